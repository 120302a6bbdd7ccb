// Bodies of <pinion/data/batch.hpp>.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <pinion/data/batch.hpp>
#include <pinion/data/table.hpp>
#include <pinion/tensor/copy.hpp>

namespace pinion { inline namespace v0 { namespace data {

namespace detail {

inline any_tensor stack_component(const std::vector<any_element>& elements, std::size_t component) {
  const any_tensor& first = elements[0][component];
  any_tensor to = room_for(first.dtype(), static_cast<std::int64_t>(elements.size()), first.shape());
  void* out = to.raw();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const any_tensor& t = elements[i][component];
    if (!(t.shape() == first.shape()))
      throw error(errc::invalid_argument, "a batch of elements of different shapes: component " +
                                              std::to_string(component) + " of the first is " +
                                              to_string(first.shape()) + ", of element " + std::to_string(i) + " " +
                                              to_string(t.shape()));
    out = copy_elements(t.dtype(), t.raw(), t.count(), out);
  }
  return to;
}

}  // namespace detail

PINION_DECL void stack(const std::vector<any_element>& elements, any_element& to) {
  to.clear();
  for (std::size_t i = 0; i < elements[0].size(); ++i) to.push_back(detail::stack_component(elements, i));
}

PINION_DECL batch_cursor::batch_cursor(cursor_ptr from, std::int64_t size, bool drop_remainder)
    : from_(std::move(from)),
      table_(from_->table()),
      size_(static_cast<std::size_t>(size)),
      drop_remainder_(drop_remainder) {}

PINION_DECL bool batch_cursor::next_of_table(any_element& to) {
  constexpr std::size_t piece = 4096;  // numbers are asked for in pieces, since a batch may be larger than the table
  std::size_t got = 0;
  for (bool more = true; more && got < size_;) {
    const std::size_t wanted = std::min(size_ - got, std::max(piece, got));
    if (numbers_.size() < got + wanted) numbers_.resize(got + wanted);
    const std::size_t n = from_->next_numbers(std::span(numbers_).subspan(got, wanted));
    more = n == wanted;
    got += n;
  }
  if (too_few(got)) return false;
  table_->batch(std::span<const std::int64_t>(numbers_).first(got), to);
  return true;
}

PINION_DECL bool batch_cursor::next_of_elements(any_element& to) {
  std::vector<any_element> elements;
  while (!ended_ && elements.size() < size_) {
    any_element element;
    ended_ = !from_->next(element);
    if (!ended_) elements.push_back(std::move(element));
  }
  if (too_few(elements.size())) return false;
  stack(elements, to);
  return true;
}

}}}  // namespace pinion::v0::data
