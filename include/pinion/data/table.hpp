// Elements by number: rows of tensors, and the numbers themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/data/cursor.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion::inline v0::data {

// `count` elements of one shape along a new first dimension; not yet filled.
template <element T>
tensor<T> room_for(std::int64_t count, const shape& of_one) {
  if (of_one.rank() == shape::max_rank)
    throw error(errc::invalid_argument, "elements of 8 dimensions cannot be batched: a tensor has at most 8");
  shape extent{count};
  for (const std::int64_t d : of_one.dims()) extent.push_back(d);
  return tensor<T>(any_tensor(dtype_of<T>, extent));
}

inline shape without_first(const shape& s) {
  return shape(s.dims().subspan(1));
}

// Slices of tensors along dimension 0, of which all have as many. Shares their memory.
template <element... Ts>
class tensor_rows final : public rows<Ts...> {
 public:
  // Errors: a scalar, or tensors of different length: invalid_argument.
  explicit tensor_rows(tensor<Ts>... of) : of_(std::move(of)...) {
    std::size_t place = 0;
    const auto check = [&](const auto& t) {
      if (t.shape().rank() == 0)
        throw error(errc::invalid_argument, "a dataset from tensors takes slices of dimension 0, which tensor " +
                                                std::to_string(place) + ", a scalar, does not have");
      if (place == 0) count_ = t.shape()[0];
      if (t.shape()[0] != count_)
        throw error(errc::invalid_argument, "a dataset from tensors of different length: tensor 0 has " +
                                                std::to_string(count_) + " rows, tensor " + std::to_string(place) +
                                                " has " + std::to_string(t.shape()[0]));
      ++place;
    };
    std::apply([&](const auto&... t) { (check(t), ...); }, of_);
  }
  std::int64_t count() const { return count_; }

  element_of<Ts...> batch(std::span<const std::int64_t> numbers) const override {
    return std::apply([&](const tensor<Ts>&... t) { return element_of<Ts...>(gather(t, numbers)...); }, of_);
  }
  element_of<Ts...> one(std::int64_t number) const override {
    return std::apply([&](const tensor<Ts>&... t) { return element_of<Ts...>(slice(t, number)...); }, of_);
  }

 private:
  template <element T>
  static tensor<T> gather(const tensor<T>& from, std::span<const std::int64_t> numbers) {
    const shape of_one = without_first(from.shape());
    const std::int64_t width = of_one.count();
    auto to = room_for<T>(static_cast<std::int64_t>(numbers.size()), of_one);
    T* out = to.data();
    for (std::size_t i = 0; i < numbers.size();) {
      std::size_t run = 1;  // rows that are neighbours are copied together
      while (i + run < numbers.size() && numbers[i + run] == numbers[i] + static_cast<std::int64_t>(run)) ++run;
      out = std::copy_n(from.data() + numbers[i] * width, static_cast<std::int64_t>(run) * width, out);
      i += run;
    }
    return to;
  }
  template <element T>
  static tensor<T> slice(const tensor<T>& from, std::int64_t number) {
    const shape of_one = without_first(from.shape());
    tensor<T> to(any_tensor(dtype_of<T>, of_one));
    std::copy_n(from.data() + number * of_one.count(), of_one.count(), to.data());
    return to;
  }

  const std::tuple<tensor<Ts>...> of_;
  std::int64_t count_ = 0;
};

// The numbers first, first + step, ...
class number_rows final : public rows<std::int64_t> {
 public:
  number_rows(std::int64_t first, std::int64_t step) : first_(first), step_(step) {}
  element_of<std::int64_t> batch(std::span<const std::int64_t> numbers) const override;
  element_of<std::int64_t> one(std::int64_t number) const override { return {tensor<std::int64_t>(at(number))}; }

 private:
  // Modulo 2^64: the product may leave int64 where the sum does not.
  std::int64_t at(std::int64_t number) const;

  std::int64_t first_, step_;
};

// All rows of a table, in order.
template <element... Ts>
class table_cursor final : public numbered_cursor<Ts...> {
 public:
  table_cursor(std::shared_ptr<const rows<Ts...>> table, std::int64_t count)
      : numbered_cursor<Ts...>(std::move(table)), count_(count) {}
  std::size_t next_numbers(std::span<std::int64_t> numbers) override {
    const auto n = std::min<std::size_t>(numbers.size(), static_cast<std::size_t>(count_ - at_));
    for (std::size_t i = 0; i < n; ++i) numbers[i] = at_++;
    return n;
  }

 private:
  std::optional<element_of<Ts...>> next_element() override { return std::nullopt; }

  std::int64_t at_ = 0, count_;
};

}  // namespace pinion::inline v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/table.ipp>
#endif
