// Kernels of order along an axis. Each thread owns a range of the lines along it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include <pinion/base/arithmetic.hpp>
#include <pinion/op/gather/cpu.hpp>
#include <pinion/op/gather/rows.hpp>
#include <pinion/op/order/op.hpp>
#include <pinion/op/order/sorted.hpp>
#include <pinion/op/reduce/loops.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace order {

// Lines beside each other: columns [column, column + width) of part `outer` of a tensor seen as [outer, rows, inner].
struct line_block {
  std::int64_t outer, column, width;

  // Where the first line begins in a tensor of these parts.
  std::int64_t begin(const rows_along& of) const { return outer * of.rows * of.inner + column; }
};

// Calls body(block) for blocks that together are all lines. `work` is that of a line.
template <class Body>
void in_blocks(task_services& services, const rows_along& along, std::int64_t work, const Body& body) {
  in_ranges(services, along.outer * along.inner, work, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t end; first < last; first = end) {
      const std::int64_t outer = first / along.inner, begin = outer * along.inner;
      end = std::min(last, begin + along.inner);
      body(line_block{outer, first - begin, end - first});
    }
  });
}

template <class T>
void read_line(const T* from, std::int64_t stride, std::vector<T>& line) {
  for (T& x : line) x = *from, from += stride;
}
template <class T>
void write_line(const std::vector<T>& line, T* to, std::int64_t stride) {
  for (const T x : line) *to = x, to += stride;
}

template <class T>
void run_sort(kernel_context& c, std::int64_t axis, stands_before<T> before) {
  const any_tensor x = c.input(0);
  const rows_along along(x.shape(), axis);
  const any_tensor y = c.allocate(0, x.dtype(), x.shape());
  c.launch([x, y, along, before, services = c.services] {
    in_blocks(*services, along, along.rows * 8, [&](const line_block& block) {
      std::vector<T> line(static_cast<std::size_t>(along.rows));
      for (std::int64_t j = 0; j < block.width; ++j) {
        read_line(x.data<T>() + block.begin(along) + j, along.inner, line);
        std::stable_sort(line.begin(), line.end(), before);
        write_line(line, y.data<T>() + block.begin(along) + j, along.inner);
      }
    });
  });
}

template <class T>
void run_arg_sort(kernel_context& c, std::int64_t axis, stands_before<T> before) {
  const any_tensor x = c.input(0);
  const rows_along along(x.shape(), axis);
  expect_int32_places(along.rows);
  const any_tensor y = c.allocate(0, dtype::int32, x.shape());
  c.launch([x, y, along, before, services = c.services] {
    in_blocks(*services, along, along.rows * 8, [&](const line_block& block) {
      std::vector<T> line(static_cast<std::size_t>(along.rows));
      std::vector<std::int32_t> places(line.size());
      const auto place_before = [&](std::int32_t a, std::int32_t b) {
        return before(line[static_cast<std::size_t>(a)], line[static_cast<std::size_t>(b)]);
      };
      for (std::int64_t j = 0; j < block.width; ++j) {
        read_line(x.data<T>() + block.begin(along) + j, along.inner, line);
        std::iota(places.begin(), places.end(), 0);
        std::stable_sort(places.begin(), places.end(), place_before);
        write_line(places, y.data<std::int32_t>() + block.begin(along) + j, along.inner);
      }
    });
  });
}

template <class T>
struct element_at {
  T value;
  std::int32_t place;

  // Whether a comes before b among the largest.
  friend bool operator<(const element_at& a, const element_at& b) {
    if (a.value > b.value) return true;
    if (a.value < b.value) return false;
    return is_nan(a.value) != is_nan(b.value) ? is_nan(a.value) : a.place < b.place;
  }
};

// Leaves the k largest elements of `found`, of which there are k at least, with the least of them at the end.
template <class T>
void keep_largest(std::vector<element_at<T>>& found, std::int64_t k) {
  std::nth_element(found.begin(), found.begin() + k - 1, found.end());
  found.resize(static_cast<std::size_t>(k));
}

// Finds the k largest of n elements, the largest first, where 0 < k <= n. An element is looked at closely if it is
// greater than the least of the k largest so far, which are found anew whenever there are twice as many.
template <class T>
void find_largest(const T* x, std::int64_t n, std::int64_t k, std::vector<element_at<T>>& found) {
  const std::int64_t room = std::min(n, 2 * k + 16);
  found.clear();
  std::int64_t i = 0;
  for (; i < room; ++i) found.push_back({x[i], static_cast<std::int32_t>(i)});
  for (; i < n;) {
    keep_largest(found, k);
    const T least = found.back().value;
    if (is_nan(least)) break;
    for (std::int64_t size = k; i < n && size < room; ++i)
      if (!(x[i] <= least)) found.push_back({x[i], static_cast<std::int32_t>(i)}), ++size;
  }
  keep_largest(found, k);
  std::sort(found.begin(), found.end());
}

template <class T>
void run_top_k(kernel_context& c, std::int64_t k) {
  const any_tensor x = c.input(0);
  const rows_along along(x.shape(), -1);
  expect_elements(k, along.rows);
  expect_int32_places(along.rows);
  const shape extent = chosen_along(x.shape(), x.shape().rank() - 1, {k});
  const any_tensor values = c.allocate(0, x.dtype(), extent), indices = c.allocate(1, dtype::int32, extent);
  if (k == 0) return;
  c.launch([x, values, indices, along, k, services = c.services] {
    in_ranges(*services, along.outer, along.rows * 2, [&](std::int64_t first, std::int64_t last) {
      std::vector<element_at<T>> found;
      for (std::int64_t row = first; row < last; ++row) {
        find_largest(x.data<T>() + row * along.rows, along.rows, k, found);
        for (std::int64_t i = row * k; const element_at<T>& e : found)
          values.data<T>()[i] = e.value, indices.data<std::int32_t>()[i++] = e.place;
      }
    });
  });
}

// The order in which the places of an axis are gone through.
struct direction {
  std::int64_t axis;
  bool reverse;
  explicit direction(const attributes& attrs)
      : axis(attrs.get<std::int64_t>("axis")), reverse(attrs.get_or("reverse", false)) {}

  // The step from an element to the next one, and the way from the start of a line to the first.
  std::int64_t step(const rows_along& along) const { return reverse ? -along.inner : along.inner; }
  std::int64_t first(const rows_along& along) const { return reverse ? (along.rows - 1) * along.inner : 0; }
};

// Calls start(e) for the elements at the first place of lines, which lie `apart` from each other, and then
// follow(e, element before) for those behind. The lines' chains are independent, so a processor works on all at once.
template <class Count, class Apart, class Start, class Follow>
void follow_lines(std::int64_t at, std::int64_t rows, std::int64_t step, Count lines, Apart apart, const Start& start,
                  const Follow& follow) {
  for (std::int64_t j = 0; j < lines; ++j) start(at + j * apart);
  for (std::int64_t row = 1; row < rows; ++row) {
    at += step;
    for (std::int64_t j = 0; j < lines; ++j) follow(at + j * apart, at + j * apart - step);
  }
}
// Does it for all lines of a tensor: neighbours along the last axes, or rows, eight at a time.
template <class Start, class Follow>
void along_lines(task_services& services, const rows_along& along, direction way, const Start& start,
                 const Follow& follow) {
  if (along.rows == 0) return;
  const auto go = [&](std::int64_t begin, auto lines, auto apart) {
    follow_lines(begin + way.first(along), along.rows, way.step(along), lines, apart, start, follow);
  };
  constexpr std::integral_constant<std::int64_t, 1> one{};
  constexpr std::integral_constant<std::int64_t, 8> eight{};
  if (along.inner > 1) {
    in_blocks(services, along, along.rows, [&](const line_block& block) { go(block.begin(along), block.width, one); });
  } else {
    in_ranges(services, along.outer, along.rows, [&](std::int64_t first, std::int64_t last) {
      for (; first + eight <= last; first += eight) go(first * along.rows, eight, along.rows);
      for (; first < last; ++first) go(first * along.rows, one, one);
    });
  }
}

template <class T, class Fold>
void run_cumulative(kernel_context& c, direction way, bool exclusive) {
  const any_tensor x = c.input(0);
  const rows_along along(x.shape(), way.axis);
  const any_tensor y = c.allocate(0, x.dtype(), x.shape());
  c.launch([x, y, along, way, exclusive, services = c.services] {
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    along_lines(
        *services, along, way, [=](std::int64_t e) { to[e] = exclusive ? Fold::template identity<T> : from[e]; },
        [=](std::int64_t e, std::int64_t before) { to[e] = Fold::combine(to[before], from[exclusive ? before : e]); });
  });
}

template <class T>
void run_linear_recurrence(kernel_context& c, direction way) {
  const any_tensor a = c.input(0), b = c.input(1);
  if (!(a.shape() == b.shape()))
    throw error(errc::invalid_argument, "terms of shape " + to_string(b.shape()) + " and factors of shape " +
                                            to_string(a.shape()) + " make no recurrence; they are alike");
  const rows_along along(a.shape(), way.axis);
  const any_tensor y = c.allocate(0, a.dtype(), a.shape());
  c.launch([a, b, y, along, way, services = c.services] {
    const T *const factors = a.data<T>(), *const terms = b.data<T>();
    T* const to = y.data<T>();
    along_lines(
        *services, along, way, [=](std::int64_t e) { to[e] = 0; },
        [=](std::int64_t e, std::int64_t before) { to[e] = terms[before] + factors[before] * to[before]; });
  });
}

// Throws invalid_argument where indices do not have the extents of x along the axes other than this one.
inline void expect_indices_of(const shape& x, const shape& indices, std::int64_t attribute) {
  const int axis = checked_axis(attribute, x.rank());
  if (indices.rank() != x.rank() || !(indices == chosen_along(x, axis, {indices[axis]})))
    throw error(errc::invalid_argument, "indices of shape " + to_string(indices) + " along axis " +
                                            std::to_string(axis) + " of a tensor of shape " + to_string(x) +
                                            "; they have its extents along the other axes");
}

template <class T, class Index>
void run_take_along_axis(kernel_context& c, std::int64_t axis) {
  const any_tensor x = c.input(0), indices = c.input(1);
  expect_indices_of(x.shape(), indices.shape(), axis);
  const rows_along of_x(x.shape(), axis), of_y(indices.shape(), axis);
  const any_tensor y = c.allocate(0, x.dtype(), indices.shape());
  c.launch([x, indices, y, of_x, of_y, services = c.services] {
    check_indices(indices.data<Index>(), indices.count(), of_x.rows);
    in_blocks(*services, of_y, of_y.rows, [&](const line_block& block) {
      const T* const from = x.data<T>() + block.begin(of_x);
      const Index* index = indices.data<Index>() + block.begin(of_y);
      T* to = y.data<T>() + block.begin(of_y);
      for (std::int64_t row = 0; row < of_y.rows; ++row, index += of_y.inner, to += of_y.inner)
        for (std::int64_t j = 0; j < block.width; ++j)
          to[j] = from[static_cast<std::int64_t>(index[j]) * of_x.inner + j];
    });
  });
}

template <class T, class Index>
void run_add_along_axis(kernel_context& c, std::int64_t axis) {
  const any_tensor indices = c.input(0), rows = c.input(1);
  const shape like = c.input(2).shape();
  expect_indices_of(like, indices.shape(), axis);
  if (!(rows.shape() == indices.shape()))
    throw error(errc::invalid_argument, "rows of shape " + to_string(rows.shape()) + " at indices of shape " +
                                            to_string(indices.shape()) + "; each has its own index");
  const rows_along of_rows(indices.shape(), axis), of_y(like, axis);
  const any_tensor y = c.allocate(0, rows.dtype(), like);
  c.launch([indices, rows, y, of_rows, of_y, services = c.services] {
    check_indices(indices.data<Index>(), indices.count(), of_y.rows);
    in_blocks(*services, of_y, of_y.rows + of_rows.rows, [&](const line_block& block) {
      const T* from = rows.data<T>() + block.begin(of_rows);
      const Index* index = indices.data<Index>() + block.begin(of_rows);
      T* const to = y.data<T>() + block.begin(of_y);
      for (std::int64_t row = 0; row < of_y.rows; ++row) std::fill_n(to + row * of_y.inner, block.width, T(0));
      for (std::int64_t row = 0; row < of_rows.rows; ++row, index += of_rows.inner, from += of_rows.inner)
        for (std::int64_t j = 0; j < block.width; ++j) {
          T& sum = to[static_cast<std::int64_t>(index[j]) * of_y.inner + j];
          sum = wrapped_sum(sum, from[j]);
        }
    });
  });
}

template <class Fold>
std::unique_ptr<kernel> make_cumulative(const kernel_setup& setup) {
  const direction way(setup.attrs());
  const bool exclusive = setup.attrs().get_or("exclusive", false);
  return visit_plain<dtypes::numbers>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([=](kernel_context& c) { run_cumulative<T, Fold>(c, way, exclusive); });
  });
}

}}}}}  // namespace pinion::v0::op::detail::order

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(sort, const kernel_setup& setup) {
  const auto axis = setup.attrs().get<std::int64_t>("axis");
  const bool descending = setup.attrs().get_or("descending", false);
  return visit_plain<dtypes::numbers>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([=](kernel_context& c) { detail::order::run_sort<T>(c, axis, {descending}); });
  });
}

inline std::unique_ptr<kernel> make_kernel(arg_sort, const kernel_setup& setup) {
  const auto axis = setup.attrs().get<std::int64_t>("axis");
  const bool descending = setup.attrs().get_or("descending", false);
  return visit_plain<dtypes::numbers>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([=](kernel_context& c) { detail::order::run_arg_sort<T>(c, axis, {descending}); });
  });
}

inline std::unique_ptr<kernel> make_kernel(top_k, const kernel_setup& setup) {
  const auto k = setup.attrs().get<std::int64_t>("k");
  return visit_plain<dtypes::numbers>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([k](kernel_context& c) { detail::order::run_top_k<T>(c, k); });
  });
}

inline std::unique_ptr<kernel> make_kernel(cumsum, const kernel_setup& setup) {
  return detail::order::make_cumulative<loops::fold_sum>(setup);
}

inline std::unique_ptr<kernel> make_kernel(cumprod, const kernel_setup& setup) {
  return detail::order::make_cumulative<loops::fold_product>(setup);
}

inline std::unique_ptr<kernel> make_kernel(linear_recurrence, const kernel_setup& setup) {
  const detail::order::direction way(setup.attrs());
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([way](kernel_context& c) { detail::order::run_linear_recurrence<T>(c, way); });
  });
}

inline std::unique_ptr<kernel> make_kernel(take_along_axis, const kernel_setup& setup) {
  const auto axis = setup.attrs().get<std::int64_t>("axis");
  return visit_plain<dtypes::numbers>(setup.input(0).dtype, [&]<class T>() {
    return visit_plain<dtypes::signed_integers>(setup.input(1).dtype, [&]<class Index>() {
      return make_function_kernel([axis](kernel_context& c) { detail::order::run_take_along_axis<T, Index>(c, axis); });
    });
  });
}

inline std::unique_ptr<kernel> make_kernel(add_along_axis, const kernel_setup& setup) {
  const auto axis = setup.attrs().get<std::int64_t>("axis");
  return visit_plain<dtypes::numbers>(setup.input(1).dtype, [&]<class T>() {
    return visit_plain<dtypes::signed_integers>(setup.input(0).dtype, [&]<class Index>() {
      return make_function_kernel([axis](kernel_context& c) { detail::order::run_add_along_axis<T, Index>(c, axis); });
    });
  });
}

}}}  // namespace pinion::v0::op
