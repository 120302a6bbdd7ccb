// Kernels that update parts of variables, on hosts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/arithmetic.hpp>
#include <pinion/op/gather/rows.hpp>
#include <pinion/op/rows/op.hpp>
#include <pinion/op/scatter/cpu.hpp>
#include <pinion/op/variable/cpu.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace rows {

// Computes an element from its old value and its update. Integers wrap around, one divided by 0 is 0, and NaN wins in a
// minimum and a maximum.
template <class Op, class T>
T updated(T old, T by) {
  if constexpr (std::is_same_v<Op, scatter_add> || std::is_same_v<Op, scatter_nd_add>)
    return wrapped_sum(old, by);
  else if constexpr (std::is_same_v<Op, scatter_sub> || std::is_same_v<Op, scatter_nd_sub>)
    return std::is_floating_point_v<T> ? old - by : wrapped_sum(old, wrapped_product(static_cast<T>(-1), by));
  else if constexpr (std::is_same_v<Op, scatter_mul>)
    return wrapped_product(old, by);
  else if constexpr (std::is_same_v<Op, scatter_min>)
    return by < old || by != by ? by : old;
  else if constexpr (std::is_same_v<Op, scatter_max>)
    return by > old || by != by ? by : old;
  else if constexpr (std::is_floating_point_v<T>)
    return old / by;
  else if constexpr (std::is_signed_v<T>)
    return by == 0 ? T(0) : by == -1 ? wrapped_product(old, T(-1)) : static_cast<T>(old / by);
  else
    return by == 0 ? T(0) : static_cast<T>(old / by);
}

// The rows of a tensor that updates name, which are checked: in the order of the indices.
struct named_rows {
  detail::rows_along along;
  std::vector<std::int64_t> rows;
};

// Rows along an axis. Throws invalid_argument for an index outside.
template <class Index>
named_rows rows_at(const any_tensor& whole, std::int64_t axis, const any_tensor& indices, const any_tensor& updates) {
  detail::expect_row_updates(whole.shape(), axis, indices.shape(), updates.shape());
  named_rows all{detail::rows_along(whole.shape(), axis), {}};
  for (std::int64_t i = 0; i < indices.count(); ++i) {
    const auto row = static_cast<std::int64_t>(indices.data<Index>()[i]);
    if (row < 0 || row >= all.along.rows) throw detail::wrong_index(i, row, all.along.rows);
    all.rows.push_back(row);
  }
  return all;
}
// Parts at indices of several numbers. Throws invalid_argument for an index outside.
template <class Index>
named_rows parts_at(const any_tensor& whole, const any_tensor& indices, const any_tensor& updates) {
  detail::expect_updates(indices.shape(), updates.shape(), whole.shape());
  const detail::scatter::parts_along along(whole.shape(), indices.shape());
  return {along.rows(), detail::scatter::rows_of<Index>(indices, along)};
}

// Applies function(old, update) to the elements of the rows, in their order. Each thread has elements of its own of
// every row. A scalar updates all elements.
template <class T, class F>
void update(task_services& services, const named_rows& named, const any_tensor& updates, const any_tensor& whole,
            const F& function) {
  const std::int64_t n = std::ssize(named.rows), inner = named.along.inner;
  if (n == 0 || inner == 0) return;  // there may be many rows of nothing
  const bool is_one = updates.shape().rank() == 0;
  const T* const from = static_cast<const T*>(updates.raw());
  T* const to = static_cast<T*>(whole.raw());
  in_ranges(services, inner, n * named.along.outer, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t o = 0; o < named.along.outer; ++o)
      for (std::int64_t i = 0; i < n; ++i) {
        T* const row = to + (o * named.along.rows + named.rows[static_cast<std::size_t>(i)]) * inner;
        const T* const by = is_one ? from : from + (o * n + i) * inner;
        for (std::int64_t e = first; e < last; ++e) row[e] = function(row[e], by[is_one ? 0 : e]);
      }
  });
}

template <class Op, class T>
class update_kernel final : public kernel {
 public:
  using find_rows = named_rows (*)(const attributes&, const any_tensor&, const any_tensor&, const any_tensor&);

  update_kernel(const kernel_setup& setup, find_rows find)
      : attrs_(setup.attrs()), find_(find), variables_(detail::updated_by(setup, 1)), services_(setup.services) {}

  void run(kernel_context& c) override {
    state::writing writing(variables_);
    const any_tensor updates = c.input(2);
    named_rows named = find_(attrs_, writing.old_value(0), c.input(1), updates);
    const any_tensor& whole = writing.make_room(0, c.device->memory());
    if (!writing.in_place(0)) detail::copy_elements(writing.old_value(0), whole);
    update<T>(services_, named, updates, whole, [](const T& old, const T& by) {
      if constexpr (std::is_same_v<Op, scatter_update>)
        return static_cast<void>(old), by;
      else
        return updated<Op>(old, by);
    });
    writing.publish();
    if (c.wants(0)) c.outputs[0] = writing.old_value(0);
  }

 private:
  const attributes attrs_;
  const find_rows find_;
  const state::updated_variables variables_;
  task_services& services_;
};

// Makes the kernel of an update of rows, or of parts at indices of several numbers.
template <class Op, class T>
std::unique_ptr<kernel> make_update(const kernel_setup& setup, bool of_parts) {
  return visit_plain<dtypes::signed_integers>(setup.input(1).dtype, [&]<class Index>() -> std::unique_ptr<kernel> {
    if (of_parts)
      return std::make_unique<update_kernel<Op, T>>(
          setup, [](const attributes&, const any_tensor& whole, const any_tensor& indices, const any_tensor& updates) {
            return parts_at<Index>(whole, indices, updates);
          });
    return std::make_unique<update_kernel<Op, T>>(setup, [](const attributes& attrs, const any_tensor& whole,
                                                            const any_tensor& indices, const any_tensor& updates) {
      return rows_at<Index>(whole, attrs.get_or("axis", std::int64_t{0}), indices, updates);
    });
  });
}
template <class Op>
std::unique_ptr<kernel> make_computed(const kernel_setup& setup, bool of_parts) {
  return visit_plain<dtypes::numbers>(setup.input(2).dtype,
                                      [&]<class T>() { return make_update<Op, T>(setup, of_parts); });
}
inline std::unique_ptr<kernel> make_moved(const kernel_setup& setup, bool of_parts) {
  return visit_plain<dtypes::moved>(setup.input(2).dtype,
                                    [&]<class T>() { return make_update<scatter_update, T>(setup, of_parts); });
}

}}}}  // namespace pinion::v0::op::rows

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(scatter_update, const kernel_setup& setup) {
  return rows::make_moved(setup, false);
}
inline std::unique_ptr<kernel> make_kernel(scatter_nd_update, const kernel_setup& setup) {
  return rows::make_moved(setup, true);
}
#define PINION_KERNEL(tag, op_name)                                                   \
  inline std::unique_ptr<kernel> make_kernel(tag, const kernel_setup& setup) {        \
    return rows::make_computed<tag>(setup, std::is_base_of_v<part_update<tag>, tag>); \
  }
PINION_ROW_OPS(PINION_KERNEL)
PINION_PART_OPS(PINION_KERNEL)
#undef PINION_KERNEL

}}}  // namespace pinion::v0::op
