// Bodies of <pinion/data/csv.hpp>.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <pinion/data/csv.hpp>
#include <pinion/data/cursor.hpp>

namespace pinion { inline namespace v0 { namespace data { namespace detail {

class csv_cursor final : public cursor {
 public:
  csv_cursor(const file_path& path, const files::csv_options& options, const std::vector<dtype>& columns)
      : rows_(path, options), columns_(columns) {}
  bool next(any_element& to) override {
    if (!rows_.next()) return false;
    files::detail::need_columns(rows_, columns_.size());
    to.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      to.emplace_back(columns_[i], shape{});
      files::detail::read_field(rows_, i, columns_[i], to.back().raw());
    }
    return true;
  }

 private:
  files::csv_reader rows_;
  const std::vector<dtype> columns_;
};

PINION_DECL stage_ptr csv_rows(const file_path& path, files::csv_options options, std::vector<dtype> columns) {
  return make_stage(
      [path, options = std::move(options), columns = std::move(columns)](const pass_options&) -> cursor_ptr {
        return std::make_unique<csv_cursor>(path, options, columns);
      });
}

}}}}  // namespace pinion::v0::data::detail
