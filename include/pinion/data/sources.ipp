// Bodies of <pinion/data/sources.hpp>.
#pragma once

#include <iterator>
#include <memory>

#include <pinion/base/error.hpp>
#include <pinion/data/cursor.hpp>
#include <pinion/data/sources.hpp>
#include <pinion/data/table.hpp>

namespace pinion { inline namespace v0 { namespace data {

namespace detail {

inline stage_ptr all_rows(std::shared_ptr<const rows> table, std::int64_t count) {
  return make_stage([table = std::move(table), count](const pass_options&) -> cursor_ptr {
    return std::make_unique<table_cursor>(table, count);
  });
}

PINION_DECL stage_ptr slices(any_element tensors) {
  auto table = std::make_shared<const tensor_rows>(std::move(tensors));
  const std::int64_t count = table->count();
  return all_rows(std::move(table), count);
}

class zip_cursor final : public cursor {
 public:
  zip_cursor(cursor_ptr left, cursor_ptr right) : left_(std::move(left)), right_(std::move(right)) {}
  bool next(any_element& to) override {
    if (!left_->next(to) || !right_->next(more_)) return false;
    to.insert(to.end(), std::make_move_iterator(more_.begin()), std::make_move_iterator(more_.end()));
    return true;
  }

 private:
  cursor_ptr left_, right_;
  any_element more_;  // the element of `right_`
};

PINION_DECL stage_ptr zip(stage_ptr left, stage_ptr right) {
  return make_stage([left = std::move(left), right = std::move(right)](const pass_options& pass) -> cursor_ptr {
    return std::make_unique<zip_cursor>(left->open(pass), right->open(pass));
  });
}

}  // namespace detail

PINION_DECL dataset<std::int64_t> range(std::int64_t first, std::int64_t end, std::int64_t step) {
  if (step == 0) throw error(errc::invalid_argument, "a range goes on in steps other than 0");
  const auto distance =
      static_cast<std::uint64_t>(step > 0 ? end : first) - static_cast<std::uint64_t>(step > 0 ? first : end);
  const auto stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const std::uint64_t count = (step > 0) == (first < end) && first != end ? (distance - 1) / stride + 1 : 0;
  if (count >> 63) throw error(errc::invalid_argument, "a range of 2^63 numbers or more");
  return dataset<std::int64_t>(
      detail::all_rows(std::make_shared<const number_rows>(first, step), static_cast<std::int64_t>(count)));
}

}}}  // namespace pinion::v0::data
