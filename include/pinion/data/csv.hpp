// The rows of a CSV file as a dataset.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <pinion/data/dataset.hpp>
#include <pinion/files/csv.hpp>

namespace pinion::inline v0::data {

namespace detail {

template <element... Ts>
class csv_cursor final : public cursor<Ts...> {
 public:
  csv_cursor(const std::filesystem::path& path, const files::csv_options& options) : rows_(path, options) {}
  std::optional<element_of<Ts...>> next() override {
    if (!rows_.next()) return std::nullopt;
    if (rows_.row().size() != sizeof...(Ts))
      throw rows_.complain(
          0, "rows of " + std::to_string(rows_.row().size()) + " columns, read as " + std::to_string(sizeof...(Ts)));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return element_of<Ts...>(tensor<Ts>(files::field_as<Ts>(rows_, I))...);
    }
    (std::index_sequence_for<Ts...>{});
  }

 private:
  files::csv_reader rows_;
};

}  // namespace detail

// Scalars, one for each column: data::csv<float, std::string>("people.csv", {.header = true}). Each pass reads the file
// anew, piece by piece. Errors: see files::csv_reader and files::read_csv.
template <element... Ts>
dataset<Ts...> csv(std::filesystem::path path, files::csv_options options = {}) {
  static_assert(sizeof...(Ts) > 0, "csv<float, int, ...> takes the type of each column");
  return dataset<Ts...>(make_stage<Ts...>(
      [path = std::move(path), options = std::move(options)](const pass_options&) -> cursor_ptr<Ts...> {
        return std::make_unique<detail::csv_cursor<Ts...>>(path, options);
      }));
}

}  // namespace pinion::inline v0::data
