// Sums of products of two tensors of any layout, z[...] = sum of x[...] y[...], by the products of matrices in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <pinion/base/arithmetic.hpp>
#include <pinion/op/matmul/gemm.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// An axis of a contraction: its extent, and how far each tensor moves from one place of it to the next. A tensor that
// does not move has no such axis, or broadcasts along it. Where z does not move, products are added up.
struct contraction_axis {
  std::int64_t extent, x, y, z;
  friend bool operator==(const contraction_axis&, const contraction_axis&) = default;
};

template <class T>
struct contraction {
  const T *x, *y;
  T* z;
  std::vector<contraction_axis> axes;
  dtype compute = dtype::float32;  // to which x and y are rounded
};

namespace einsum {

using axis_list = std::vector<contraction_axis>;

inline std::int64_t places(const axis_list& axes) {
  std::int64_t product = 1;
  for (const contraction_axis& axis : axes) product *= axis.extent;
  return product;
}

// How far the tensors move from their first element to a place among those of some axes, of which the last is fastest.
struct offsets {
  std::int64_t x = 0, y = 0, z = 0;

  static offsets of(const axis_list& axes, std::int64_t place) {
    offsets sum;
    for (std::size_t i = axes.size(); i-- > 0; place /= axes[i].extent) {
      const std::int64_t at = place % axes[i].extent;
      sum.x += at * axes[i].x, sum.y += at * axes[i].y, sum.z += at * axes[i].z;
    }
    return sum;
  }
};

// Whether two axes are one that is longer, in all tensors.
inline bool are_one(const contraction_axis& slow, const contraction_axis& fast) {
  return slow.x == fast.x * fast.extent && slow.y == fast.y * fast.extent && slow.z == fast.z * fast.extent;
}

// Joins one pair of axes that are one. Returns whether there was one.
inline bool join_pair(axis_list& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    for (std::size_t k = 0; k < axes.size(); ++k)
      if (i != k && are_one(axes[i], axes[k])) {
        axes[k].extent *= axes[i].extent;
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
      }
  return false;
}

// The fewest axes for the same places. Axes of one place go.
inline axis_list joined(axis_list axes) {
  std::erase_if(axes, [](const contraction_axis& a) { return a.extent == 1; });
  while (join_pair(axes)) continue;
  return axes;
}

// The axes of a matrix product, and others. `both` has those that all three tensors move along.
enum class axis_kind { both, m, n, k, other };
inline axis_kind kind_of(const contraction_axis& a) {
  if (a.x && a.y) return a.z ? axis_kind::both : axis_kind::k;
  if (!a.z || (!a.x && !a.y)) return axis_kind::other;
  return a.x ? axis_kind::m : axis_kind::n;
}

// How a matrix whose rows and columns are that far apart is stored for a library: by rows, or by columns.
struct stored_matrix {
  bool transposed;
  std::int64_t leading;
};
inline std::optional<stored_matrix> stored(std::int64_t rows, std::int64_t to_row, std::int64_t columns,
                                           std::int64_t to_column) {
  if ((columns == 1 || to_column == 1) && (rows == 1 || to_row >= columns))
    return stored_matrix{false, rows == 1 ? columns : to_row};
  if ((rows == 1 || to_row == 1) && (columns == 1 || to_column >= rows))
    return stored_matrix{true, columns == 1 ? rows : to_column};
  return std::nullopt;
}

// The axes that a library goes along in each of its products, and how it finds the matrices there.
struct matrix_axes {
  contraction_axis m{1, 0, 0, 0}, n{1, 0, 0, 0}, k{1, 0, 0, 0};
  stored_matrix x{}, y{}, z{};

  std::int64_t operations() const { return m.extent * n.extent * k.extent; }
  // Whether a library can read and write matrices along these axes.
  bool find() {
    const auto in_x = stored(m.extent, m.x, k.extent, k.x), in_y = stored(k.extent, k.y, n.extent, n.y),
               in_z = stored(m.extent, m.z, n.extent, n.z);
    if (!in_x || !in_y || !in_z) return false;
    x = *in_x, y = *in_y, z = *in_z;
    return true;
  }
  bool has(const contraction_axis& a) const { return a == m || a == n || a == k; }
  // The product at a place of the other axes. One that is stored by columns is that of the transposed matrices.
  template <class T>
  product<T> at(const T* from_x, const T* from_y, T* to, bool add, dtype compute) const {
    product<T> p = z.transposed
                       ? product<T>{from_y, from_x, to, n.extent, m.extent, k.extent, !y.transposed, !x.transposed}
                       : product<T>{from_x, from_y, to, m.extent, n.extent, k.extent, x.transposed, y.transposed};
    p.lda = z.transposed ? y.leading : x.leading;
    p.ldb = z.transposed ? x.leading : y.leading;
    p.ldc = z.leading;
    p.add = add;
    p.compute = compute;
    return p;
  }
};

// The largest matrix product among some axes.
inline matrix_axes largest_product(const axis_list& axes) {
  axis_list m{{1, 0, 0, 0}}, n = m, k = m;
  for (const contraction_axis& a : axes) {
    if (kind_of(a) == axis_kind::m) m.push_back(a);
    if (kind_of(a) == axis_kind::n) n.push_back(a);
    if (kind_of(a) == axis_kind::k) k.push_back(a);
  }
  matrix_axes best;
  for (const contraction_axis& of_m : m)
    for (const contraction_axis& of_n : n)
      for (const contraction_axis& of_k : k) {
        matrix_axes one{of_m, of_n, of_k};
        if (one.operations() > best.operations() && one.find()) best = one;
      }
  return best;
}

// Axes along which z moves, and those along which products are added up.
struct loop_axes {
  axis_list kept, summed;
  void add(const contraction_axis& a) { (a.z ? kept : summed).push_back(a); }
};

// Computes matrix products by a library, one for each place of the other axes.
template <class T>
void by_products(const contraction<T>& c, const matrix_axes& of, task_services& services) {
  loop_axes others;
  for (const contraction_axis& a : c.axes)
    if (!of.has(a)) others.add(a);
  const std::int64_t sums = places(others.summed);
  const product<T> whole = of.at(c.x, c.y, c.z, false, c.compute);
  const product_blocks cut(whole.m, whole.n, whole.k);
  const std::int64_t blocks = cut.down * cut.across;
  in_ranges(services, places(others.kept) * blocks, of.operations() / blocks * sums / 8,
            [&](std::int64_t first, std::int64_t last) {
              for (std::int64_t i = first; i < last; ++i) {
                const offsets to = offsets::of(others.kept, i / blocks);
                const std::int64_t row = i % blocks / cut.across * cut.rows, column = i % cut.across * cut.columns;
                for (std::int64_t s = 0; s < sums; ++s) {
                  const offsets from = offsets::of(others.summed, s);
                  gemm(of.at(c.x + to.x + from.x, c.y + to.y + from.y, c.z + to.z, s > 0, c.compute)
                           .rows(row, std::min(cut.rows, whole.m - row))
                           .columns(column, std::min(cut.columns, whole.n - column)));
                }
              }
            });
}

// The axis that a loop goes along inside of the others: a long one along which elements are neighbours.
inline std::size_t innermost(const axis_list& axes) {
  const auto worth = [](const contraction_axis& a) { return a.extent * (a.x <= 1 && a.y <= 1 && a.z <= 1 ? 16 : 1); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < axes.size(); ++i)
    if (worth(axes[i]) > worth(axes[best])) best = i;
  return best;
}

// Adds the products along one axis.
template <class T>
void add_along(const contraction_axis& a, const T* x, const T* y, T* z) {
  const auto add = [&](auto to_x, auto to_y, auto to_z) {
    for (std::int64_t i = 0; i < a.extent; ++i) {
      T& sum = z[i * to_z];
      sum = wrapped_sum(sum, wrapped_product(x[i * to_x], y[i * to_y]));
    }
  };
  constexpr std::integral_constant<std::int64_t, 0> still{};
  constexpr std::integral_constant<std::int64_t, 1> next{};
  if (a.x == 1 && a.y == 1 && a.z == 1) return add(next, next, next);
  if (a.x == 1 && a.y == 0 && a.z == 1) return add(next, still, next);
  if (a.x == 0 && a.y == 1 && a.z == 1) return add(still, next, next);
  add(a.x, a.y, a.z);
}

// Goes along one axis after the other, where matrices are small or there are none.
template <class T>
void by_elements(const contraction<T>& c, task_services& services) {
  axis_list rest = c.axes;
  contraction_axis inner{1, 0, 0, 0};
  if (!rest.empty()) {
    const auto at = rest.begin() + static_cast<std::ptrdiff_t>(innermost(rest));
    inner = *at;
    rest.erase(at);
  }
  loop_axes others;
  for (const contraction_axis& a : rest) others.add(a);
  const std::int64_t sums = places(others.summed), zeros = inner.z ? inner.extent : 1;
  in_ranges(services, places(others.kept), sums * inner.extent, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const offsets to = offsets::of(others.kept, i);
      T* const z = c.z + to.z;
      for (std::int64_t k = 0; k < zeros; ++k) z[k * inner.z] = T{};
      for (std::int64_t s = 0; s < sums; ++s) {
        const offsets from = offsets::of(others.summed, s);
        add_along(inner, c.x + to.x + from.x, c.y + to.y + from.y, z);
      }
    }
  });
}

// The elements from the first to the last of those that a tensor moves to along some axes.
inline std::int64_t reach(const axis_list& axes, std::int64_t contraction_axis::*tensor) {
  std::int64_t elements = 1;
  for (const contraction_axis& a : axes) elements += (a.extent - 1) * (a.*tensor);
  return elements;
}

// Goes along the elements of x and y as they are rounded.
template <class T>
void by_rounded_elements(const contraction<T>& c, task_services& services) {
  const rounded_numbers<T> x(c.compute, c.x, reach(c.axes, &contraction_axis::x));
  const rounded_numbers<T> y(c.compute, c.y, reach(c.axes, &contraction_axis::y));
  by_elements(contraction<T>{x.get(), y.get(), c.z, c.axes}, services);
}

// Moves the elements of one tensor into another.
template <class T>
void copy(const T* from, T* to, const axis_list& axes, task_services& services) {
  static constexpr T one = 1;
  by_elements(contraction<T>{from, &one, to, joined(axes)}, services);
}

// One tensor of a contraction beside a copy in which the axes of each kind are neighbours, and so are one axis.
template <class T>
struct packed_tensor {
  axis_list moves = {};  // x: along the tensor, z: along the copy
  std::vector<T> elements = {};

  // Takes the axes of `whole` that the tensor moves along, those of the last kind last. In `packed` it moves along its
  // copy.
  packed_tensor(const axis_list& whole, axis_list& packed, std::int64_t contraction_axis::*tensor,
                std::initializer_list<axis_kind> order) {
    std::int64_t stride = 1;
    for (auto kind = std::rbegin(order); kind != std::rend(order); ++kind)
      for (std::size_t i = 0; i < whole.size(); ++i)
        if (whole[i].*tensor != 0 && kind_of(whole[i]) == *kind) {
          moves.push_back({whole[i].extent, whole[i].*tensor, 0, stride});
          packed[i].*tensor = stride;
          stride *= whole[i].extent;
        }
    elements.resize(static_cast<std::size_t>(stride));
  }
};

// Computes a contraction of copies, in which matrices are as large as they can be.
template <class T>
void by_packed_products(const contraction<T>& c, task_services& services) {
  using enum axis_kind;
  axis_list axes = c.axes;
  packed_tensor<T> x(c.axes, axes, &contraction_axis::x, {other, both, m, k}),
      y(c.axes, axes, &contraction_axis::y, {other, both, k, n}),
      z(c.axes, axes, &contraction_axis::z, {other, both, m, n});
  copy(c.x, x.elements.data(), x.moves, services);
  copy(c.y, y.elements.data(), y.moves, services);
  axes = joined(std::move(axes));
  by_products(contraction<T>{x.elements.data(), y.elements.data(), z.elements.data(), axes, c.compute},
              largest_product(axes), services);
  for (contraction_axis& a : z.moves) std::swap(a.x, a.z);
  copy(z.elements.data(), c.z, z.moves, services);
}

// The operations of a product of matrices that have all axes of their kind.
inline std::int64_t most_operations(const axis_list& axes) {
  std::int64_t product = 1;
  for (const contraction_axis& a : axes)
    if (kind_of(a) != axis_kind::both && kind_of(a) != axis_kind::other) product *= a.extent;
  return product;
}

}  // namespace einsum

// Computes a contraction whose extents are all above 0, by its operands as they are rounded. Elements of z that no axes
// lead to are left as they are. The same operands yield the same bits whatever the number of threads.
template <class T>
void contract(contraction<T> c, task_services& services) {
  constexpr std::int64_t worth_a_call = 1 << 9, worth_copies = 1 << 12;
  c.axes = einsum::joined(std::move(c.axes));
  const einsum::matrix_axes of = einsum::largest_product(c.axes);
  const std::int64_t most = einsum::most_operations(c.axes);
  if (of.operations() < worth_copies && most >= std::max(worth_copies, 16 * of.operations()))
    return einsum::by_packed_products(c, services);
  if (of.operations() >= worth_a_call) return einsum::by_products(c, of, services);
  einsum::by_rounded_elements(c, services);
}

}}}}  // namespace pinion::v0::op::detail
