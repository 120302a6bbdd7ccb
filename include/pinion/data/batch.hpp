// The stage that makes batches: from a table in one copy, else from elements one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <pinion/data/table.hpp>

namespace pinion::inline v0::data {

struct batch_options {
  bool drop_remainder = false;  // leave out what does not fill a batch at the end
};

// Elements of equal shapes along a new first dimension. Requires: at least one. Errors: shapes that differ,
// invalid_argument.
template <element... Ts>
element_of<Ts...> stack(const std::vector<element_of<Ts...>>& elements) {
  const auto column = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    const auto& first = std::get<I>(elements[0]);
    using T = std::tuple_element_t<I, std::tuple<Ts...>>;
    auto to = room_for<T>(static_cast<std::int64_t>(elements.size()), first.shape());
    T* out = to.data();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const tensor<T>& t = std::get<I>(elements[i]);
      if (!(t.shape() == first.shape()))
        throw error(errc::invalid_argument, "a batch of elements of different shapes: component " + std::to_string(I) +
                                                " of the first is " + to_string(first.shape()) + ", of element " +
                                                std::to_string(i) + " " + to_string(t.shape()));
      out = std::copy_n(t.data(), t.size(), out);
    }
    return to;
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return element_of<Ts...>(column(std::integral_constant<std::size_t, I>{})...);
  }
  (std::index_sequence_for<Ts...>{});
}

template <element... Ts>
class batch_cursor final : public cursor<Ts...> {
 public:
  batch_cursor(cursor_ptr<Ts...> from, std::int64_t size, batch_options options)
      : from_(std::move(from)), table_(from_->table()), size_(static_cast<std::size_t>(size)), options_(options) {}

  std::optional<element_of<Ts...>> next() override { return table_ ? next_of_table() : next_of_elements(); }

 private:
  bool too_few(std::size_t n) const { return n == 0 || (n < size_ && options_.drop_remainder); }

  std::optional<element_of<Ts...>> next_of_table() {
    constexpr std::size_t piece = 4096;  // a batch may be larger than the table
    std::size_t got = 0;
    for (bool more = true; more && got < size_;) {
      const std::size_t wanted = std::min(size_ - got, std::max(piece, got));
      if (numbers_.size() < got + wanted) numbers_.resize(got + wanted);
      const std::size_t n = from_->next_numbers(std::span(numbers_).subspan(got, wanted));
      more = n == wanted;
      got += n;
    }
    if (too_few(got)) return std::nullopt;
    return table_->batch(std::span<const std::int64_t>(numbers_).first(got));
  }
  std::optional<element_of<Ts...>> next_of_elements() {
    std::vector<element_of<Ts...>> elements;
    while (!ended_ && elements.size() < size_) {
      auto element = from_->next();
      ended_ = !element;
      if (element) elements.push_back(*std::move(element));
    }
    if (too_few(elements.size())) return std::nullopt;
    return stack<Ts...>(elements);
  }

  cursor_ptr<Ts...> from_;
  std::shared_ptr<const rows<Ts...>> table_;
  std::size_t size_;
  batch_options options_;
  bool ended_ = false;
  std::vector<std::int64_t> numbers_;
};

}  // namespace pinion::inline v0::data
