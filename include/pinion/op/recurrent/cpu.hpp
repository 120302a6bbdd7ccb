// Kernels of recurrent cells. The products of x with its weights are made before, for all steps at once; a step
// multiplies the state by the recurrent weights, and goes over the units.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <pinion/op/matmul/cpu.hpp>
#include <pinion/op/recurrent/loops.hpp>
#include <pinion/op/recurrent/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace cells {

constexpr std::int64_t work_of_unit = 64;  // in elements that are only copied

// The extents of a sequence, and the way through it.
struct sequence {
  std::int64_t length, batch, units;
  bool reverse;
  std::vector<std::int64_t> ends;  // of each row: its steps are those before

  bool has(std::int64_t step, std::int64_t row) const { return step < ends[static_cast<std::size_t>(row)]; }
  // The number of steps that have elements.
  std::int64_t computed() const { return batch == 0 || units == 0 ? 0 : length; }
  // The step that is the i-th to be computed.
  std::int64_t at(std::int64_t i) const { return reverse ? length - 1 - i : i; }
  // Whether a row begins at a step that it has; the step before, in the order of computation, is this one otherwise.
  bool begins(std::int64_t step, std::int64_t row) const {
    return reverse ? step == ends[static_cast<std::size_t>(row)] - 1 : step == 0;
  }
  std::int64_t before(std::int64_t step) const { return reverse ? step + 1 : step - 1; }
};

template <class Index>
void read_ends(const any_tensor& lengths, sequence& of) {
  for (std::int64_t row = 0; row < of.batch; ++row) {
    const auto end = static_cast<std::int64_t>(lengths.data<Index>()[row]);
    if (end < 0 || end > of.length)
      throw error(errc::invalid_argument, "the length " + std::to_string(end) + " of row " + std::to_string(row) +
                                              " is not in [0, " + std::to_string(of.length) + "]");
    of.ends[static_cast<std::size_t>(row)] = end;
  }
}
inline void read_lengths(const any_tensor& lengths, sequence& of) {
  of.ends.assign(static_cast<std::size_t>(of.batch), of.length);
  if (lengths.empty()) return;
  lengths.dtype() == dtype::int32 ? read_ends<std::int32_t>(lengths, of) : read_ends<std::int64_t>(lengths, of);
}

inline void expect_shape(const any_tensor& x, const shape& wanted, const char* what) {
  if (!(x.shape() == wanted))
    throw error(errc::invalid_argument,
                std::string(what) + " of shape " + to_string(x.shape()) + " where " + to_string(wanted) + " fits");
}

// Reads the extents of a node, whose recurrent weights are [units, gates units].
inline sequence sequence_of(const any_tensor& weights, const any_tensor& steps, const any_tensor& lengths,
                            std::int64_t gates, bool reverse) {
  if (weights.shape().rank() != 2 || steps.shape().rank() != 3)
    throw error(errc::invalid_argument, "weights of shape " + to_string(weights.shape()) + " for steps of shape " +
                                            to_string(steps.shape()) + "; they have two and three axes");
  const sequence of{steps.shape()[0], steps.shape()[1], weights.shape()[0], reverse, {}};
  expect_shape(weights, {of.units, gates * of.units}, "recurrent weights");
  if (!lengths.empty()) expect_shape(lengths, {of.batch}, "lengths");
  return of;
}

template <class T>
void multiply(dtype compute, const T* a, bool ta, const T* b, bool tb, T* c, std::int64_t m, std::int64_t n,
              std::int64_t k, bool add, task_services& services) {
  product<T> p{a, b, c, m, n, k, ta, tb};
  p.add = add;
  p.compute = compute;
  multiply_in_blocks(p, product_end<T>{}, services);
}

template <class T, class Cell>
void run(kernel_context& c, int inputs, bool reverse, dtype compute) {
  constexpr int states = Cell::has_c ? 2 : 1;
  const any_tensor x = c.input(0), weights = c.input(states + 1),
                   lengths = inputs > states + 2 ? c.input(states + 2) : any_tensor{};
  const sequence of = sequence_of(weights, x, lengths, Cell::gates, reverse);
  const shape state{of.batch, of.units};
  expect_shape(x, {of.length, of.batch, Cell::gates * of.units}, "x");
  for (int i = 1; i <= states; ++i) expect_shape(c.input(i), state, "a state");
  const any_tensor y = c.allocate(0, x.dtype(), {of.length, of.batch, of.units});
  const any_tensor h0 = c.input(1), h = c.allocate(1, x.dtype(), state);
  const any_tensor c0 = Cell::has_c ? c.input(2) : any_tensor{};
  const any_tensor cells = Cell::has_c ? c.allocate(2, x.dtype(), state) : any_tensor{};
  const any_tensor kept = c.allocate(states + 1, x.dtype(), {of.length, of.batch, Cell::kept * of.units});
  const any_tensor products = c.scratch(x.dtype(), {of.batch, Cell::gates * of.units});
  c.launch([=, services = c.services]() mutable {
    sequence all = of;
    read_lengths(lengths, all);
    T* const hs = h.data<T>();
    std::copy_n(h0.data<T>(), h.count(), hs);
    if (Cell::has_c) std::copy_n(c0.data<T>(), cells.count(), cells.data<T>());
    const std::int64_t u = all.units, wide = Cell::gates * u;
    for (std::int64_t i = 0; i < all.computed(); ++i) {
      const std::int64_t step = all.at(i);
      multiply(compute, hs, false, weights.data<T>(), false, products.data<T>(), all.batch, wide, u, false, *services);
      in_ranges(*services, all.batch, u * work_of_unit, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) {
          const std::int64_t at = step * all.batch + row;
          T *const out = y.data<T>() + at * u, *const keep = kept.data<T>() + at * Cell::kept * u;
          if (!all.has(step, row)) {
            std::fill_n(out, u, T(0)), std::fill_n(keep, Cell::kept * u, T(0));
            continue;
          }
          const loops::cell_step<T> one{x.data<T>() + at * wide, products.data<T>() + row * wide, hs + row * u,
                                        Cell::has_c ? cells.data<T>() + row * u : nullptr, keep};
          scalar::dispatch<loops::cell_row<T, Cell>>(one, u);
          std::copy_n(hs + row * u, u, out);
        }
      });
    }
  });
}

// The tensors of a gradient.
template <class T>
struct slopes_of_sequence {
  const T *weights, *h0, *c0, *y, *kept, *dy;
  T *dx, *dh, *dc, *dweights;
  T *before, *dproducts;  // of all steps: the states before, and the gradients of the products

  // Goes through the rows of a step.
  template <class Cell>
  void rows(const sequence& of, std::int64_t step, std::int64_t first, std::int64_t last) const {
    const std::int64_t u = of.units, wide = Cell::gates * u;
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t at = step * of.batch + row, earlier = of.before(step) * of.batch + row;
      T *const dx_row = dx + at * wide, *const product_row = dproducts + at * wide, *const before_row = before + at * u;
      if (!of.has(step, row)) {
        std::fill_n(dx_row, wide, T(0)), std::fill_n(product_row, wide, T(0)), std::fill_n(before_row, u, T(0));
        continue;
      }
      const bool begins = of.begins(step, row);
      std::copy_n(begins ? h0 + row * u : y + earlier * u, u, before_row);
      const T* const c_before = !Cell::has_c ? nullptr : begins ? c0 + row * u : kept + (earlier * Cell::kept + 4) * u;
      for (std::int64_t i = 0; i < u; ++i) dh[row * u + i] += dy[at * u + i];
      const loops::cell_slope<T> one{kept + at * Cell::kept * u,           before_row, c_before,   dh + row * u,
                                     Cell::has_c ? dc + row * u : nullptr, dx_row,     product_row};
      scalar::dispatch<loops::cell_row_slope<T, Cell>>(one, u);
    }
  }
};

template <class T, class Cell>
void run_gradient(kernel_context& c, int inputs, bool reverse, dtype compute) {
  constexpr int states = Cell::has_c ? 2 : 1, y_at = states + 1;
  const any_tensor weights = c.input(0), h0 = c.input(1), c0 = Cell::has_c ? c.input(2) : any_tensor{};
  const any_tensor y = c.input(y_at), kept = c.input(y_at + 1), dy = c.input(y_at + 2), dh_end = c.input(y_at + 3),
                   dc_end = Cell::has_c ? c.input(y_at + 4) : any_tensor{};
  const any_tensor lengths = inputs > y_at + 3 + states ? c.input(inputs - 1) : any_tensor{};
  const sequence of = sequence_of(weights, y, lengths, Cell::gates, reverse);
  const shape state{of.batch, of.units}, steps{of.length, of.batch, of.units};
  const shape wide{of.length, of.batch, Cell::gates * of.units};
  for (const any_tensor& s : {h0, dh_end, Cell::has_c ? c0 : h0, Cell::has_c ? dc_end : h0})
    expect_shape(s, state, "a state");
  for (const any_tensor& s : {y, dy}) expect_shape(s, steps, "outputs");
  expect_shape(kept, {of.length, of.batch, Cell::kept * of.units}, "what was kept");
  const any_tensor dx = c.allocate(0, y.dtype(), wide), dh = c.allocate(1, y.dtype(), state),
                   dc = Cell::has_c ? c.allocate(2, y.dtype(), state) : any_tensor{},
                   dweights = c.allocate(states + 1, y.dtype(), weights.shape()), before = c.scratch(y.dtype(), steps),
                   dproducts = Cell::shares_slopes ? dx : c.scratch(y.dtype(), wide);
  c.launch([=, services = c.services] {
    sequence all = of;
    read_lengths(lengths, all);
    std::copy_n(dh_end.data<T>(), dh.count(), dh.data<T>());
    if (Cell::has_c) std::copy_n(dc_end.data<T>(), dc.count(), dc.data<T>());
    const auto or_null = [](const any_tensor& t) { return t.empty() ? nullptr : t.data<T>(); };
    const slopes_of_sequence<T> slopes{weights.data<T>(), h0.data<T>(),       or_null(c0),      y.data<T>(),
                                       kept.data<T>(),    dy.data<T>(),       dx.data<T>(),     dh.data<T>(),
                                       or_null(dc),       dweights.data<T>(), before.data<T>(), dproducts.data<T>()};
    const std::int64_t u = all.units, gates = Cell::gates * u;
    for (std::int64_t i = all.computed(); i-- > 0;) {
      const std::int64_t step = all.at(i);
      in_ranges(*services, all.batch, u * work_of_unit,
                [&](std::int64_t first, std::int64_t last) { slopes.template rows<Cell>(all, step, first, last); });
      multiply<T>(compute, slopes.dproducts + step * all.batch * gates, false, slopes.weights, true, slopes.dh,
                  all.batch, u, gates, true, *services);
    }
    multiply<T>(compute, slopes.before, true, slopes.dproducts, false, slopes.dweights, u, gates,
                all.length * all.batch, false, *services);
  });
}

template <class Cell>
std::unique_ptr<kernel> make(const kernel_setup& setup, bool backward) {
  const int inputs = static_cast<int>(setup.node.inputs.size());
  const bool reverse = setup.attrs().get_or("reverse", false);
  const dtype compute = compute_of(setup.attrs());
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel(
        [=](kernel_context& c) {
          backward ? run_gradient<T, Cell>(c, inputs, reverse, compute) : run<T, Cell>(c, inputs, reverse, compute);
        },
        true);
  });
}

}}}}}  // namespace pinion::v0::op::detail::cells

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(lstm, const kernel_setup& setup) {
  return detail::cells::make<loops::lstm_cell>(setup, false);
}
inline std::unique_ptr<kernel> make_kernel(lstm_gradient, const kernel_setup& setup) {
  return detail::cells::make<loops::lstm_cell>(setup, true);
}
inline std::unique_ptr<kernel> make_kernel(gru, const kernel_setup& setup) {
  return detail::cells::make<loops::gru_cell>(setup, false);
}
inline std::unique_ptr<kernel> make_kernel(gru_gradient, const kernel_setup& setup) {
  return detail::cells::make<loops::gru_cell>(setup, true);
}
inline std::unique_ptr<kernel> make_kernel(simple_rnn, const kernel_setup& setup) {
  return detail::cells::make<loops::simple_cell>(setup, false);
}
inline std::unique_ptr<kernel> make_kernel(simple_rnn_gradient, const kernel_setup& setup) {
  return detail::cells::make<loops::simple_cell>(setup, true);
}

}}}  // namespace pinion::v0::op
