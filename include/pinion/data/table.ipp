// Bodies of <pinion/data/table.hpp>.
#pragma once

#include <algorithm>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/data/table.hpp>
#include <pinion/tensor/copy.hpp>
#include <pinion/tensor/page_locked.hpp>

namespace pinion { inline namespace v0 { namespace data {

PINION_DECL any_tensor room_for(dtype type, std::int64_t count, const shape& of_one) {
  if (of_one.rank() == shape::max_rank)
    throw error(errc::invalid_argument, "elements of 8 dimensions cannot be batched: a tensor has at most 8");
  shape extent{count};
  for (const std::int64_t d : of_one.dims()) extent.push_back(d);
  return page_locked_tensor(type, extent);
}

namespace detail {

inline shape without_first(const shape& s) {
  return shape(s.dims().subspan(1));
}

inline const std::byte* row_of(const any_tensor& table, std::int64_t number, std::int64_t width) {
  return table.byte_data() + static_cast<std::size_t>(number * width) * size_of(table.dtype());
}

inline any_tensor gather(const any_tensor& from, std::span<const std::int64_t> numbers) {
  const shape of_one = without_first(from.shape());
  const std::int64_t width = of_one.count();
  any_tensor to = room_for(from.dtype(), static_cast<std::int64_t>(numbers.size()), of_one);
  void* out = to.raw();
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t run = 1;  // rows that are neighbours are copied together
    while (i + run < numbers.size() && numbers[i + run] == numbers[i] + static_cast<std::int64_t>(run)) ++run;
    out = copy_elements(from.dtype(), row_of(from, numbers[i], width), static_cast<std::int64_t>(run) * width, out);
    i += run;
  }
  return to;
}

inline any_tensor slice(const any_tensor& from, std::int64_t number) {
  any_tensor to(from.dtype(), without_first(from.shape()));
  copy_elements(to.dtype(), row_of(from, number, to.count()), to.count(), to.raw());
  return to;
}

}  // namespace detail

PINION_DECL tensor_rows::tensor_rows(any_element of) : of_(std::move(of)) {
  for (std::size_t i = 0; i < of_.size(); ++i) {
    const shape& extent = of_[i].shape();
    if (extent.rank() == 0)
      throw error(errc::invalid_argument, "a dataset from tensors takes slices of dimension 0, which tensor " +
                                              std::to_string(i) + ", a scalar, does not have");
    if (i == 0) count_ = extent[0];
    if (extent[0] != count_)
      throw error(errc::invalid_argument, "a dataset from tensors of different length: tensor 0 has " +
                                              std::to_string(count_) + " rows, tensor " + std::to_string(i) + " has " +
                                              std::to_string(extent[0]));
  }
}

PINION_DECL void tensor_rows::batch(std::span<const std::int64_t> numbers, any_element& to) const {
  to.clear();
  for (const any_tensor& t : of_) to.push_back(detail::gather(t, numbers));
}

PINION_DECL void tensor_rows::one(std::int64_t number, any_element& to) const {
  to.clear();
  for (const any_tensor& t : of_) to.push_back(detail::slice(t, number));
}

PINION_DECL void number_rows::batch(std::span<const std::int64_t> numbers, any_element& to) const {
  any_tensor values = room_for(dtype::int64, static_cast<std::int64_t>(numbers.size()), {});
  std::transform(numbers.begin(), numbers.end(), values.data<std::int64_t>(), [this](std::int64_t n) { return at(n); });
  to.clear();
  to.push_back(std::move(values));
}

PINION_DECL void number_rows::one(std::int64_t number, any_element& to) const {
  assign(to, at(number));
}

PINION_DECL std::int64_t number_rows::at(std::int64_t number) const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first_) +
                                   static_cast<std::uint64_t>(number) * static_cast<std::uint64_t>(step_));
}

PINION_DECL std::size_t table_cursor::next_numbers(std::span<std::int64_t> numbers) {
  const auto n = std::min<std::size_t>(numbers.size(), static_cast<std::size_t>(count_ - at_));
  for (std::size_t i = 0; i < n; ++i) numbers[i] = at_++;
  return n;
}

}}}  // namespace pinion::v0::data
