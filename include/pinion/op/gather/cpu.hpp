// Kernels of gather, whole or in parts, and of its gradient, which adds rows up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <pinion/op/gather/op.hpp>
#include <pinion/op/gather/rows.hpp>
#include <pinion/op/reduce/cpu.hpp>
#include <pinion/op/slice/cpu.hpp>
#include <pinion/opkit/copy_run.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

template <class Index>
std::int64_t checked_index(const Index* indices, std::int64_t i, std::int64_t rows) {
  const auto index = static_cast<std::int64_t>(indices[i]);
  if (index < 0 || index >= rows) throw wrong_index(i, index, rows);
  return index;
}

// Throws invalid_argument for an index outside [0, rows).
template <class Index>
void check_indices(const Index* indices, std::int64_t n, std::int64_t rows) {
  bool wrong = false;
  for (std::int64_t i = 0; i < n; ++i) wrong |= indices[i] < 0 || indices[i] >= rows;
  for (std::int64_t i = 0; wrong && i < n; ++i) checked_index(indices, i, rows);
}

// Copies rows [first, last) of n that indices choose. Rows that follow soon are asked for, since a processor does not
// guess where they are.
template <class Index, class Element>
void gather_rows(const Element* from, const Index* index, Element* to, std::int64_t inner, std::int64_t first,
                 std::int64_t last) {
  constexpr std::int64_t ahead = 8;
  to += first * inner;
  for (std::int64_t i = first; i < last; ++i, to += inner) {
    __builtin_prefetch(from + static_cast<std::int64_t>(index[std::min(i + ahead, last - 1)]) * inner);
    copy_run(from + static_cast<std::int64_t>(index[i]) * inner, inner, to);
  }
}

template <class Index>
void run_gather(kernel_context& c, std::int64_t attribute) {
  const any_tensor params = c.input(0), indices = c.input(1);
  const rows_along along(params.shape(), attribute);
  const int axis = checked_axis(attribute, params.shape().rank());
  const any_tensor y = c.allocate(0, params.dtype(), chosen_along(params.shape(), axis, indices.shape()));
  visit_element(params.dtype(), [&]<class Element>() {
    c.launch([params, indices, y, along, services = c.services] {
      const Index* index = indices.data<Index>();
      const auto* from = static_cast<const Element*>(params.raw());
      auto* to = static_cast<Element*>(y.raw());
      const std::int64_t n = indices.count();
      check_indices(index, n, along.rows);
      in_ranges(*services, along.outer * n, along.inner, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t end; first < last; first = end) {
          const std::int64_t outer = first / n, begin = outer * n;
          end = std::min(last, begin + n);
          gather_rows(from + outer * along.rows * along.inner, index, to + begin * along.inner, along.inner,
                      first - begin, end - begin);
        }
      });
    });
  });
}

using add_row_function = void (*)(const void* x, void* y, std::int64_t n);

inline add_row_function add_row_of(dtype type) {
  return visit_number(type, [&]<class T>() {
    return scalar::entries<loops::add_row<T>, const void*, void*, std::int64_t>[scalar::isa::best()];
  });
}

// How rows are folded into others: what stands in a row before any is, and a row that comes to another.
struct row_fold {
  void (*begin)(void* y, std::int64_t n);
  add_row_function add;

  static row_fold sum(dtype type) {
    return visit_number(type, [type]<class T>() {
      return row_fold{[](void* y, std::int64_t n) { std::fill_n(static_cast<T*>(y), n, T(0)); }, add_row_of(type)};
    });
  }
};

// Folds the n rows of each part of `rows` into those of y that the indices name; one outside of y is dropped. Every
// thread owns a range of the rows of y and reads all indices, so rows are added in their order.
template <class Index>
void fold_rows(task_services& services, const Index* index, std::int64_t n, const any_tensor& rows, const any_tensor& y,
               const rows_along& along, const row_fold& fold) {
  const std::int64_t bytes = along.inner * static_cast<std::int64_t>(size_of(rows.dtype()));
  const std::int64_t parts = std::max<std::int64_t>(1, std::min<std::int64_t>(16, along.rows * along.inner >> 16));
  in_ranges(services, along.outer * parts, 1 << 15, [&](std::int64_t unit, std::int64_t) {
    const std::int64_t outer = unit / parts, part = unit % parts;
    const std::int64_t first = along.rows * part / parts, last = along.rows * (part + 1) / parts;
    std::byte* const to = y.byte_data() + outer * along.rows * bytes;
    const std::byte* const from = rows.byte_data() + outer * n * bytes;
    fold.begin(to + first * bytes, (last - first) * along.inner);
    for (std::int64_t i = 0; i < n; ++i)
      if (index[i] >= first && index[i] < last)
        fold.add(from + i * bytes, to + static_cast<std::int64_t>(index[i]) * bytes, along.inner);
  });
}

template <class Index>
void run_scatter_dense(kernel_context& c, std::int64_t attribute, const row_fold& fold) {
  const any_tensor indices = c.input(0), rows = c.input(1);
  const shape like = c.input(2).shape();
  const rows_along along(like, attribute);
  expect_rows(rows.shape(), indices.shape(), like, attribute);
  const any_tensor y = c.allocate(0, rows.dtype(), like);
  c.launch([indices, rows, y, along, fold, services = c.services] {
    check_indices(indices.data<Index>(), indices.count(), along.rows);
    fold_rows(*services, indices.data<Index>(), indices.count(), rows, y, along, fold);
  });
}

// The part that holds a row: the last non-empty one that begins at it or before.
inline std::size_t part_of(std::int64_t row, const integers& begins) {
  return static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), row) - begins.begin()) - 1;
}

// Splits indices by part; part i has the rows from begins[i] up to begins[i + 1].
template <class Index>
void run_partition_indices(kernel_context& c, const integers& begins) {
  const any_tensor indices = c.input(0);
  const auto* const index = indices.data<Index>();
  const std::int64_t n = indices.count();
  const std::size_t parts = begins.size() - 1;
  std::vector<std::int64_t> filled(parts + 1);  // sizes of the parts; then how many come before each
  for (std::int64_t i = 0; i < n; ++i) ++filled[part_of(checked_index(index, i, begins.back()), begins) + 1];
  std::vector<Index*> own;
  for (std::size_t p = 0; p < parts; ++p) {
    own.push_back(c.allocate(static_cast<int>(p), indices.dtype(), {filled[p + 1]}).template data<Index>());
    filled[p + 1] += filled[p];
  }
  const std::vector<std::int64_t> before = filled;
  auto* const place = c.allocate(static_cast<int>(parts), indices.dtype(), indices.shape()).template data<Index>();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::size_t p = part_of(index[i], begins);
    own[p][filled[p] - before[p]] = static_cast<Index>(index[i] - begins[p]);
    place[i] = static_cast<Index>(filled[p]++);
  }
}

template <class T, class Index>
void run_one_hot(kernel_context& c, std::int64_t depth) {
  const any_tensor indices = c.input(0);
  shape extent = indices.shape();
  extent.push_back(depth);
  const any_tensor y = c.allocate(0, dtype_of<T>, extent);
  c.launch([indices, y, depth] {
    std::fill_n(y.data<T>(), y.count(), T(0));
    for (std::int64_t i = 0; i < indices.count(); ++i) {
      const auto index = static_cast<std::int64_t>(indices.data<Index>()[i]);
      if (index >= 0 && index < depth) y.data<T>()[i * depth + index] = T(1);
    }
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(gather, const kernel_setup& setup) {
  const std::int64_t axis = detail::axis_of(setup.attrs());
  return visit_plain<dtypes::signed_integers>(setup.input(1).dtype, [axis]<class Index>() {
    return make_function_kernel([axis](kernel_context& c) { detail::run_gather<Index>(c, axis); });
  });
}

inline std::unique_ptr<kernel> make_kernel(scatter_dense, const kernel_setup& setup) {
  const auto fold = detail::row_fold::sum(setup.input(1).dtype);
  const std::int64_t axis = detail::axis_of(setup.attrs());
  return visit_plain<dtypes::signed_integers>(setup.input(0).dtype, [=]<class Index>() {
    return make_function_kernel([=](kernel_context& c) { detail::run_scatter_dense<Index>(c, axis, fold); });
  });
}

inline std::unique_ptr<kernel> make_kernel(partition_indices, const kernel_setup& setup) {
  integers begins{0};
  for (const std::int64_t rows : setup.attrs().get<integers>("rows")) begins.push_back(begins.back() + rows);
  return visit_plain<dtypes::signed_integers>(setup.input(0).dtype, [&]<class Index>() {
    return make_function_kernel([begins](kernel_context& c) { detail::run_partition_indices<Index>(c, begins); });
  });
}

inline std::unique_ptr<kernel> make_kernel(one_hot, const kernel_setup& setup) {
  const auto depth = setup.attrs().get<std::int64_t>("depth");
  return visit_plain(setup.node.outputs[0].dtype, [&]<class T>() {
    return visit_plain<dtypes::integers>(setup.input(0).dtype, [&]<class Index>() {
      return make_function_kernel([depth](kernel_context& c) { detail::run_one_hot<T, Index>(c, depth); });
    });
  });
}

}}}  // namespace pinion::v0::op
