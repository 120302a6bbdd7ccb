// Kernels of parts at indices of several numbers, and of segments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/op/gather/cpu.hpp>
#include <pinion/op/scatter/op.hpp>
#include <pinion/opkit/copy_run.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace scatter {

// A tensor seen as the parts [..., inner] that indices of d numbers choose: their extents along its first d axes.
struct parts_along {
  shape extents;
  std::int64_t inner = 1;

  parts_along(const shape& s, const shape& indices) {
    const auto d = static_cast<int>(indices[indices.rank() - 1]);
    for (int i = 0; i < s.rank(); ++i)
      if (i < d)
        extents.push_back(s[i]);
      else
        inner *= s[i];
  }
  // The tensor as rows, each of which is a part.
  rows_along rows() const { return rows_along({extents.count(), inner}, 0); }
};

template <class Index>
error wrong_place(const Index* index, std::int64_t position, const shape& extents) {
  std::string numbers;
  for (int i = 0; i < extents.rank(); ++i) numbers += (i ? ", " : "") + std::to_string(index[i]);
  return error(errc::invalid_argument, "index [" + numbers + "] at position " + std::to_string(position) +
                                           " is outside of a tensor whose first extents are " + to_string(extents));
}

// The rows that the indices [..., d] are of a tensor; none where its parts have no elements and no index is to be
// checked, since there may be any number of these. Throws invalid_argument for an index outside.
template <class Index>
std::vector<std::int64_t> rows_of(const any_tensor& indices, const parts_along& along) {
  const int d = along.extents.rank();
  std::int64_t n = d == 0 && along.inner == 0 ? 0 : 1;
  for (int i = 0; i + 1 < indices.shape().rank(); ++i) n *= indices.shape()[i];
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
  const Index* index = indices.data<Index>();
  for (std::int64_t position = 0; position < n; ++position, index += d) {
    std::int64_t& row = rows[static_cast<std::size_t>(position)];
    for (int i = 0; i < d; ++i) {
      if (index[i] < 0 || index[i] >= along.extents[i]) throw wrong_place(index, position, along.extents);
      row = row * along.extents[i] + static_cast<std::int64_t>(index[i]);
    }
  }
  return rows;
}

template <class Index>
void run_gather_nd(kernel_context& c) {
  const any_tensor x = c.input(0), indices = c.input(1);
  const shape extent = parts_at(indices.shape(), x.shape());
  const parts_along along(x.shape(), indices.shape());
  const any_tensor y = c.allocate(0, x.dtype(), extent);
  visit_element(x.dtype(), [&]<class Element>() {
    c.launch([x, indices, y, along, services = c.services] {
      const auto rows = rows_of<Index>(indices, along);
      in_ranges(*services, std::ssize(rows), along.inner, [&](std::int64_t first, std::int64_t last) {
        gather_rows(static_cast<const Element*>(x.raw()), rows.data(), static_cast<Element*>(y.raw()), along.inner,
                    first, last);
      });
    });
  });
}

template <class Index>
void run_scatter_nd(kernel_context& c, const shape& to, const row_fold& fold) {
  const any_tensor indices = c.input(0), updates = c.input(1);
  expect_updates(indices.shape(), updates.shape(), to);
  const parts_along along(to, indices.shape());
  const any_tensor y = c.allocate(0, updates.dtype(), to);
  c.launch([indices, updates, y, along, fold, services = c.services] {
    const auto rows = rows_of<Index>(indices, along);
    fold_rows(*services, rows.data(), std::ssize(rows), updates, y, along.rows(), fold);
  });
}

// Throws invalid_argument for an id that is no segment; negative ones are none by intent.
template <class Index>
void check_ids(const any_tensor& ids, std::int64_t segments) {
  for (std::int64_t i = 0; i < ids.count(); ++i)
    if (const auto id = static_cast<std::int64_t>(ids.data<Index>()[i]); id >= segments)
      throw error(errc::invalid_argument, "id " + std::to_string(id) + " at position " + std::to_string(i) +
                                              " is none of " + std::to_string(segments) + " segments");
}

template <class Index>
void run_segment_fold(kernel_context& c, std::int64_t segments, const row_fold& fold) {
  const any_tensor x = c.input(0), ids = c.input(1);
  expect_id_each(x.shape(), ids.shape());
  const any_tensor y = c.allocate(0, x.dtype(), with_rows(x.shape(), segments));
  c.launch([x, ids, y, fold, segments, services = c.services] {
    check_ids<Index>(ids, segments);
    fold_rows(*services, ids.data<Index>(), ids.count(), x, y, rows_along(y.shape(), 0), fold);
  });
}

template <class Index>
void run_gather_segments(kernel_context& c, std::int64_t segments) {
  const any_tensor x = c.input(0), ids = c.input(1);
  if (!(x.shape() == with_rows(x.shape(), segments)) || ids.shape().rank() != 1)
    throw error(errc::invalid_argument, "rows of shape " + to_string(x.shape()) + " at ids of shape " +
                                            to_string(ids.shape()) + " are not those of " + std::to_string(segments) +
                                            " segments");
  const any_tensor y = c.allocate(0, x.dtype(), with_rows(x.shape(), ids.count()));
  visit_element(x.dtype(), [&]<class Element>() {
    c.launch([x, ids, y, segments, services = c.services] {
      check_ids<Index>(ids, segments);
      const std::int64_t inner = rows_along(x.shape(), 0).inner;
      in_ranges(*services, ids.count(), inner, [&](std::int64_t first, std::int64_t last) {
        auto* to = static_cast<Element*>(y.raw()) + first * inner;
        for (std::int64_t i = first; i < last; ++i, to += inner) {
          const auto id = static_cast<std::int64_t>(ids.data<Index>()[i]);
          if (id < 0)
            std::fill_n(to, inner, Element());
          else
            copy_run(static_cast<const Element*>(x.raw()) + id * inner, inner, to);
        }
      });
    });
  });
}

// For each row the one of its segment before it, or, in reverse, behind it; -1 where there is none.
template <class Index>
std::vector<std::int64_t> rows_before(const any_tensor& ids, bool reverse) {
  const std::int64_t rows = ids.count();
  std::vector<std::int64_t> before(static_cast<std::size_t>(rows), -1);
  std::unordered_map<Index, std::int64_t> latest;  // by id
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t row = reverse ? rows - 1 - i : i;
    const Index id = ids.data<Index>()[row];
    if (id < 0) continue;
    const auto [at, is_first] = latest.try_emplace(id, row);
    if (!is_first) before[static_cast<std::size_t>(row)] = std::exchange(at->second, row);
  }
  return before;
}

// Each thread owns columns.
template <class T, class Index>
void run_segment_recurrence(kernel_context& c, bool reverse) {
  const any_tensor a = c.input(0), b = c.input(1), ids = c.input(2);
  if (!(a.shape() == b.shape()))
    throw error(errc::invalid_argument, "terms of shape " + to_string(b.shape()) + " and factors of shape " +
                                            to_string(a.shape()) + " make no recurrence; they are alike");
  expect_id_each(a.shape(), ids.shape());
  const any_tensor y = c.allocate(0, a.dtype(), a.shape());
  c.launch([a, b, ids, y, reverse, services = c.services] {
    const T *const factors = a.data<T>(), *const terms = b.data<T>();
    T* const to = y.data<T>();
    const auto before = rows_before<Index>(ids, reverse);
    const std::int64_t rows = ids.count(), inner = rows_along(a.shape(), 0).inner;
    in_ranges(*services, inner, rows, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t row = reverse ? rows - 1 - i : i, from = before[static_cast<std::size_t>(row)];
        for (std::int64_t j = first; j < last; ++j)
          to[row * inner + j] =
              from < 0 ? T(0) : terms[from * inner + j] + factors[from * inner + j] * to[from * inner + j];
      }
    });
  });
}

// The folds of reductions, except that over no elements they are finite.
struct greatest : loops::fold_max {
  template <class T>
  static constexpr T identity = std::numeric_limits<T>::lowest();
};
struct least : loops::fold_min {
  template <class T>
  static constexpr T identity = std::numeric_limits<T>::max();
};

// How rows are folded element by element.
template <class Fold>
row_fold fold_of(dtype type) {
  return visit_plain<dtypes::numbers>(type, []<class T>() {
    return row_fold{[](void* y, std::int64_t n) { std::fill_n(static_cast<T*>(y), n, Fold::template identity<T>); },
                    [](const void* x, void* y, std::int64_t n) {
                      for (std::int64_t i = 0; i < n; ++i)
                        static_cast<T*>(y)[i] = Fold::combine(static_cast<T*>(y)[i], static_cast<const T*>(x)[i]);
                    }};
  });
}

// Makes a kernel of body.operator()<Index>(context), where Index is the type of input i.
template <class Body>
std::unique_ptr<kernel> make_indexed(const kernel_setup& setup, int i, const Body& body) {
  return visit_plain<dtypes::signed_integers>(setup.input(i).dtype, [&]<class Index>() {
    return make_function_kernel([body](kernel_context& c) { body.template operator()<Index>(c); });
  });
}

inline std::unique_ptr<kernel> make_segment_fold(const kernel_setup& setup, const row_fold& fold) {
  return make_indexed(setup, 1,
                      [fold, n = setup.attrs().get<std::int64_t>("segments")]<class Index>(kernel_context& c) {
                        run_segment_fold<Index>(c, n, fold);
                      });
}

}}}}}  // namespace pinion::v0::op::detail::scatter

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(gather_nd, const kernel_setup& setup) {
  return detail::scatter::make_indexed(
      setup, 1, []<class Index>(kernel_context& c) { detail::scatter::run_gather_nd<Index>(c); });
}

inline std::unique_ptr<kernel> make_kernel(scatter_nd, const kernel_setup& setup) {
  return detail::scatter::make_indexed(
      setup, 0,
      [fold = detail::row_fold::sum(setup.input(1).dtype), to = setup.attrs().get<shape>("shape")]<class Index>(
          kernel_context& c) { detail::scatter::run_scatter_nd<Index>(c, to, fold); });
}

inline std::unique_ptr<kernel> make_kernel(scatter_nd_like, const kernel_setup& setup) {
  return detail::scatter::make_indexed(
      setup, 0, [fold = detail::row_fold::sum(setup.input(1).dtype)]<class Index>(kernel_context& c) {
        detail::scatter::run_scatter_nd<Index>(c, c.input(2).shape(), fold);
      });
}

inline std::unique_ptr<kernel> make_kernel(segment_sum, const kernel_setup& setup) {
  return detail::scatter::make_segment_fold(setup, detail::row_fold::sum(setup.input(0).dtype));
}

inline std::unique_ptr<kernel> make_kernel(segment_max, const kernel_setup& setup) {
  return detail::scatter::make_segment_fold(setup,
                                            detail::scatter::fold_of<detail::scatter::greatest>(setup.input(0).dtype));
}

inline std::unique_ptr<kernel> make_kernel(segment_min, const kernel_setup& setup) {
  return detail::scatter::make_segment_fold(setup,
                                            detail::scatter::fold_of<detail::scatter::least>(setup.input(0).dtype));
}

inline std::unique_ptr<kernel> make_kernel(segment_prod, const kernel_setup& setup) {
  return detail::scatter::make_segment_fold(setup, detail::scatter::fold_of<loops::fold_product>(setup.input(0).dtype));
}

inline std::unique_ptr<kernel> make_kernel(segment_recurrence, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return detail::scatter::make_indexed(
        setup, 2, [reverse = setup.attrs().get_or("reverse", false)]<class Index>(kernel_context& c) {
          detail::scatter::run_segment_recurrence<T, Index>(c, reverse);
        });
  });
}

inline std::unique_ptr<kernel> make_kernel(gather_segments, const kernel_setup& setup) {
  return detail::scatter::make_indexed(
      setup, 1, [n = setup.attrs().get<std::int64_t>("segments")]<class Index>(kernel_context& c) {
        detail::scatter::run_gather_segments<Index>(c, n);
      });
}

}}}  // namespace pinion::v0::op
