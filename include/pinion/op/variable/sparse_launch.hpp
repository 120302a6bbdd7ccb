// One run of an update by a sparse gradient: the memory of its operands, and the walk over the rows that it names.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <span>

#include <pinion/op/elementwise/runner.hpp>
#include <pinion/op/variable/update_layout.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A row of a variable, and the position in a sparse gradient that names it.
struct named_row {
  std::int64_t row, position;
  friend auto operator<=>(const named_row&, const named_row&) = default;
};

// Writes the rows that some indices name into `order`, in ascending order. Throws invalid_argument for an index that is
// no row.
template <class Index>
void sort_rows(const any_tensor& indices, std::int64_t rows, std::span<named_row> order) {
  for (std::int64_t i = 0; i < indices.count(); ++i) {
    const auto row = static_cast<std::int64_t>(indices.data<Index>()[i]);
    if (row < 0 || row >= rows) throw wrong_row(i, row, rows);
    order[static_cast<std::size_t>(i)] = {row, i};
  }
  std::sort(order.begin(), order.end());
}

// A run: a program, and the memory of the operands. A value; it refers to the program, which is its kernel's, to the
// states, and holds the other tensors.
class sparse_launch {
 public:
  sparse_launch(const program_runner& program, const shape& variable, const any_tensor& indices, const any_tensor& rows,
                kernel_context& c)
      : program_(&program),
        extent_(variable[0]),
        size_(extent_ == 0 ? 0 : variable.count() / extent_),
        indices_(indices),
        rows_(rows),
        order_(c.scratch(dtype::int64, {indices.count(), 2})),
        sum_(c.scratch(rows.dtype(), {size_})) {}

  void state(const any_tensor& room) { states_[state_count_++] = room.raw(); }
  void number(const any_tensor& scalar) { numbers_[number_count_++] = scalar.raw(); }

  void run() const {
    const std::span order(static_cast<named_row*>(order_.raw()), static_cast<std::size_t>(indices_.count()));
    visit_plain<dtypes::signed_integers>(indices_.dtype(),
                                         [&]<class Index>() { sort_rows<Index>(indices_, extent_, order); });
    if (size_ > 0) visit_plain<dtypes::floating>(rows_.dtype(), [&]<class T>() { update<T>(order); });
  }

 private:
  template <class T>
  void update(std::span<const named_row> order) const {
    std::array<T, scalar::widest> repeated[scalar::max_inputs];
    scalar::strip s;
    s.n = size_;
    std::fill_n(s.advance, state_count_ + 1, ~std::int64_t{0});
    std::fill_n(s.how, state_count_, scalar::sink::store);
    for (std::size_t k = 0, at = state_count_ + 1; k < number_count_; ++k, ++at) {
      repeated[k].fill(*static_cast<const T*>(numbers_[k]));
      s.advance[at] = 0;
      s.in[at] = repeated[k].data();
    }
    while (!order.empty()) {
      for (std::size_t k = 0; k < state_count_; ++k)
        s.in[k] = s.out[k] = static_cast<T*>(states_[k]) + order.front().row * size_;
      s.in[state_count_] = next_gradient<T>(order);
      (*program_)(s);
    }
  }
  // The gradient of the row that comes first, which then leaves the order: the sum of all that name it.
  template <class T>
  const T* next_gradient(std::span<const named_row>& order) const {
    const auto take = [&] {
      const T* const named = static_cast<const T*>(rows_.raw()) + order.front().position * size_;
      order = order.subspan(1);
      return named;
    };
    const std::int64_t row = order.front().row;
    const auto goes_on = [&] { return !order.empty() && order.front().row == row; };
    const T* const first = take();
    if (!goes_on()) return first;
    T* const sum = static_cast<T*>(sum_.raw());
    std::copy_n(first, size_, sum);
    while (goes_on()) std::transform(sum, sum + size_, take(), sum, std::plus<T>());
    return sum;
  }

  const program_runner* program_;
  std::int64_t extent_, size_;  // the variable's rows, and the elements of one
  any_tensor indices_, rows_, order_, sum_;
  std::array<void*, scalar::max_results> states_;
  std::array<const void*, scalar::max_inputs> numbers_;
  std::size_t state_count_ = 0, number_count_ = 0;
};

}}}}  // namespace pinion::v0::op::detail
