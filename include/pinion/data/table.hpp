// Tables, whose elements are had by number: rows of tensors, and plain numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/data/cursor.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace data {

// A tensor for `count` elements of one shape, along a new first dimension. Its contents are not set. Throws
// invalid_argument if the elements have 8 dimensions, the most that a tensor has. Throws resource_exhausted where there
// is no memory.
any_tensor room_for(dtype type, std::int64_t count, const shape& of_one);

// The slices of some tensors of equal length along dimension 0. It shares their memory. Immutable; thread-safe. A batch
// is copied row by row, in the order of the numbers.
class tensor_rows final : public rows {
 public:
  // Throws invalid_argument for a scalar, and for tensors of different length. Requires: at least one tensor.
  explicit tensor_rows(any_element of);
  std::int64_t count() const { return count_; }

  // Requires: the numbers are in [0, count()).
  void batch(std::span<const std::int64_t> numbers, any_element& to) const override;
  void one(std::int64_t number, any_element& to) const override;

 private:
  const any_element of_;
  std::int64_t count_ = 0;
};

// The numbers first, first + step, ... Immutable; thread-safe. It has one component, int64.
class number_rows final : public rows {
 public:
  number_rows(std::int64_t first, std::int64_t step) : first_(first), step_(step) {}
  void batch(std::span<const std::int64_t> numbers, any_element& to) const override;
  void one(std::int64_t number, any_element& to) const override;

 private:
  // Computes modulo 2^64, since the product may leave int64 where the sum does not.
  std::int64_t at(std::int64_t number) const;

  std::int64_t first_, step_;
};

// A cursor over all rows of a table, in order.
class table_cursor final : public numbered_cursor {
 public:
  table_cursor(std::shared_ptr<const rows> table, std::int64_t count)
      : numbered_cursor(std::move(table)), count_(count) {}
  std::size_t next_numbers(std::span<std::int64_t> numbers) override;

 private:
  bool next_element(any_element&) override { return false; }

  std::int64_t at_ = 0, count_;
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/table.ipp>
#endif
