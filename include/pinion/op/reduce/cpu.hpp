// Kernels of the reductions.
//
// A reduction is a chain of passes [outer, n, inner] -> [outer, blocks, inner]. Each pass folds one stretch of
// neighbouring axes in blocks of fixed length; while there is more than one block, the next pass folds the blocks. So
// the order of additions depends on the shape alone, not on the number of threads, and no sum is longer than a block:
// the error of a sum grows with the depth of the chain, not with the number of elements.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/launch.hpp>
#include <pinion/op/reduce/loops.hpp>
#include <pinion/op/reduce/op.hpp>
#include <pinion/op/reduce/shared.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// ---- the chain

// The passes of a reduction. The last reduced stretch is folded first, since its memory is contiguous. Requires: at
// least one element is kept.
inline std::vector<loops::fold_pass> fold_chain(const shape& x, axis_set axes) {
  std::vector<loops::fold_pass> chain;
  if (x.count() == 0) {
    chain.push_back({without_axes(x, axes, false).count(), 0, 1});
    return chain;
  }
  auto rest = stretches(x, axes);
  for (std::int64_t inner = 1; !rest.empty(); rest.pop_back()) {
    const stretch last = rest.back();
    if (!last.reduced) {
      inner *= last.extent;
      continue;
    }
    std::int64_t outer = 1;
    for (std::size_t i = 0; i + 1 < rest.size(); ++i) outer *= rest[i].extent;
    for (std::int64_t n = last.extent; n > 1; n = chain.back().blocks()) chain.push_back({outer, n, inner});
  }
  return chain;
}

// The functions of a reduction for one dtype. `divide`, of y[0..results) by n, is null unless it is a mean.
struct fold_functions {
  void (*fold)(const void* x, void* y, loops::fold_pass, std::int64_t first, std::int64_t last);
  void (*divide)(void* y, std::int64_t results, std::int64_t n);
};

// A reduction of a tensor of some shape: the shape of the result, and the passes, which are none where nothing is
// folded.
struct reduction_plan {
  shape extent;
  std::vector<loops::fold_pass> chain;

  reduction_plan(const attributes& attrs, const shape& x) {
    const axis_set axes = reduced_axes(attrs, x.rank());
    extent = without_axes(x, axes, attrs.get_or("keep_dims", false));
    if (extent.count() != 0) chain = fold_chain(x, axes);
  }
};

// Runs one pass.
inline void fold_all(task_services& services, const fold_functions& f, const void* from, void* to,
                     const loops::fold_pass& pass) {
  in_ranges(services, pass.units(), pass.unit_size(),
            [&](std::int64_t first, std::int64_t last) { f.fold(from, to, pass, first, last); });
}

// Folds `elements` elements. The first pass is first_pass(services, to, pass); the others fold what it left. Requires:
// there is a pass.
template <class FirstPass>
void run_passes(kernel_context& c, const reduction_plan& plan, dtype type, std::int64_t elements,
                const fold_functions& f, FirstPass first_pass) {
  void* const y = c.allocate(0, type, plan.extent).raw();
  std::vector<any_tensor> between;
  for (std::size_t i = 0; i + 1 < plan.chain.size(); ++i) between.push_back(c.scratch(type, {plan.chain[i].results()}));
  const std::int64_t results = plan.extent.count(), n = elements / results;
  c.launch([first_pass = std::move(first_pass), y, chain = plan.chain, between, f, results, n, services = c.services] {
    const auto target = [&](std::size_t i) { return i + 1 < chain.size() ? between[i].raw() : y; };
    first_pass(*services, target(0), chain[0]);
    for (std::size_t i = 1; i < chain.size(); ++i) fold_all(*services, f, target(i - 1), target(i), chain[i]);
    if (f.divide) f.divide(y, results, n);
  });
}

inline void reduce(kernel_context& c, const attributes& attrs, const fold_functions& f) {
  const any_tensor& in = c.input(0);
  const reduction_plan plan(attrs, in.shape());
  if (plan.chain.empty()) {  // the elements are copied
    c.outputs[0] = in.count() == plan.extent.count() ? in.reshaped(plan.extent)
                                                     : any_tensor(c.allocate(0, in.dtype(), plan.extent));
    return;
  }
  run_passes(c, plan, in.dtype(), in.count(), f,
             [x = in.raw(), f](task_services& services, void* to, const loops::fold_pass& pass) {
               fold_all(services, f, x, to, pass);
             });
}

template <class T>
void divide_by_count(void* elements, std::int64_t results, std::int64_t n) {
  T* y = static_cast<T*>(elements);
  for (std::int64_t i = 0; i < results; ++i) y[i] /= static_cast<T>(n);
}

// The mean of integers: exact sums in 128 bits, which are then divided.
template <class T>
void run_integer_mean(kernel_context& c, const attributes& attrs) {
  __extension__ typedef __int128 wide;
  const any_tensor& in = c.input(0);
  const axis_set axes = reduced_axes(attrs, in.shape().rank());
  const shape kept = without_axes(in.shape(), axes, true);
  const any_tensor out = c.allocate(0, in.dtype(), without_axes(in.shape(), axes, attrs.get_or("keep_dims", false)));
  c.launch([in, out, kept] {
    T* const y = out.template data<T>();
    if (in.count() == 0) return void(std::fill_n(y, out.count(), T(0)));
    std::vector<wide> sums(static_cast<std::size_t>(out.count()));
    const T* x = in.template data<T>();
    const broadcast_walk walk(in.shape(), {kept});
    auto at = walk.cursor(0);
    for (std::int64_t row = 0; row < walk.outer(); ++row, at.next(), x += walk.inner()) {
      wide* to = sums.data() + at.offset(0);
      for (std::int64_t i = 0; i < walk.inner(); ++i) to[walk.advances(0) ? i : 0] += x[i];
    }
    const std::int64_t n = in.count() / out.count();
    std::transform(sums.begin(), sums.end(), y, [n](wide sum) { return static_cast<T>(sum / n); });
  });
}

template <class Fold>
fold_functions functions_of(dtype type, bool mean = false) {
  return visit_number(type, [&]<class T>() {
    const auto& fold =
        scalar::entries<loops::fold_units<Fold, T>, const void*, void*, loops::fold_pass, std::int64_t, std::int64_t>;
    fold_functions f{fold[scalar::isa::best()], nullptr};
    if constexpr (std::is_floating_point_v<T>)
      if (mean) f.divide = &divide_by_count<T>;
    return f;
  });
}

template <class Fold>
std::unique_ptr<kernel> make_reduction(const kernel_setup& setup, bool mean = false) {
  return make_function_kernel([attrs = setup.attrs(), functions = functions_of<Fold>(setup.input(0).dtype, mean)](
                                  kernel_context& c) { reduce(c, attrs, functions); });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(reduce_sum, const kernel_setup& setup) {
  return detail::make_reduction<loops::fold_sum>(setup);
}
inline std::unique_ptr<kernel> make_kernel(reduce_mean, const kernel_setup& setup) {
  if (is_floating(setup.input(0).dtype)) return detail::make_reduction<loops::fold_sum>(setup, true);
  return detail::visit_number(setup.input(0).dtype, [&]<class T>() -> std::unique_ptr<kernel> {
    if constexpr (std::is_integral_v<T>)
      return make_function_kernel(
          [attrs = setup.attrs()](kernel_context& c) { detail::run_integer_mean<T>(c, attrs); });
    else
      return nullptr;  // floating types are dealt with above
  });
}
inline std::unique_ptr<kernel> make_kernel(reduce_max, const kernel_setup& setup) {
  return detail::make_reduction<loops::fold_max>(setup);
}
inline std::unique_ptr<kernel> make_kernel(reduce_min, const kernel_setup& setup) {
  return detail::make_reduction<loops::fold_min>(setup);
}
inline std::unique_ptr<kernel> make_kernel(reduce_prod, const kernel_setup& setup) {
  return detail::make_reduction<loops::fold_product>(setup);
}

inline std::unique_ptr<kernel> make_kernel(reduce_all, const kernel_setup& setup) {
  return detail::make_reduction<loops::fold_all>(setup);
}

inline std::unique_ptr<kernel> make_kernel(reduce_any, const kernel_setup& setup) {
  return detail::make_reduction<loops::fold_any>(setup);
}

// ---- gradients

namespace detail {

// The n-th part of a number. An integer is not divided by n as an element of its dtype, which may not hold n.
template <class T>
T part_of(T x, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>)
    return x / static_cast<T>(n);
  else
    return static_cast<T>(static_cast<std::int64_t>(x) / n);
}

template <class T>
void expand(kernel_context& c, const attributes& attrs) {
  const any_tensor& dy = c.input(0);
  const expansion way(c, attrs);
  T* const dx = c.allocate(0, dy.dtype(), way.extent).template data<T>();
  if (way.extent.count() == 0) return;
  const std::int64_t n = way.divisor();
  c.launch([walk = broadcast_walk(way.extent, {way.kept}), dy = dy.data<T>(), dx, n, services = c.services] {
    const std::int64_t inner = walk.inner();
    in_ranges(*services, walk.outer(), inner, [&](std::int64_t first, std::int64_t last) {
      auto at = walk.cursor(first);
      for (std::int64_t row = first; row < last; ++row, at.next()) {
        const T* from = dy + at.offset(0);
        T* to = dx + row * inner;
        if (!walk.advances(0))
          std::fill_n(to, inner, part_of(*from, n));
        else if (n == 1)
          std::copy_n(from, inner, to);
        else
          for (std::int64_t i = 0; i < inner; ++i) to[i] = part_of(from[i], n);
      }
    });
  });
}

// The offsets at which the elements along the kept (or the reduced) axes start, in row-major order.
inline std::vector<std::int64_t> offsets_along(const shape& x, axis_set axes, bool reduced) {
  std::vector<std::int64_t> all{0};
  std::int64_t stride = x.count();
  for (int axis = 0; axis < x.rank(); ++axis) {
    stride /= x[axis];
    if (axes.has(axis) != reduced) continue;
    std::vector<std::int64_t> finer;
    for (const std::int64_t at : all)
      for (std::int64_t i = 0; i < x[axis]; ++i) finer.push_back(at + i * stride);
    all = std::move(finer);
  }
  return all;
}

// Multiplies, for each element, the product of all before it with the product of all after it.
template <class T>
void differentiate_product(const T* x, T dy, T* dx, const std::vector<std::int64_t>& at) {
  T product = dy;
  for (const std::int64_t i : at) {
    dx[i] = product;
    product *= x[i];
  }
  product = 1;
  for (auto i = at.rbegin(); i != at.rend(); ++i) {
    dx[*i] *= product;
    product *= x[*i];
  }
}

// A product of factors x + g0 e0 + g1 e1 + ..., in which each e times itself is 0. It holds one coefficient for each
// set of e, whose members are the bits of the coefficient's index.
template <class T>
class weighted_product {
 public:
  explicit weighted_product(std::size_t weights) : of_(std::size_t{1} << weights) { of_[0] = 1; }

  // Multiplies with a factor. A set with more e than there are factors has no term. Its coefficient is left out of
  // sums, since it could be multiplied by infinity.
  void times(T x, const std::vector<const T*>& g, std::int64_t at) {
    for (std::size_t set = of_.size(); set-- > 0;) {
      const int chosen = std::popcount(set);
      if (chosen > factors_ + 1) continue;
      T sum = chosen <= factors_ ? x * of_[set] : T(0);
      for (std::size_t i = 0; i < g.size(); ++i)
        if (set >> i & 1) sum += g[i][at] * of_[set ^ std::size_t{1} << i];
      of_[set] = sum;
    }
    ++factors_;
  }
  // The coefficient of all e in the product of this and `other`.
  T all_with(const weighted_product& other) const {
    T sum = 0;
    const std::size_t all = of_.size() - 1;
    for (std::size_t set = 0; set <= all; ++set)
      if (std::popcount(set) <= factors_ && std::popcount(all ^ set) <= other.factors_)
        sum += of_[set] * other.of_[all ^ set];
    return sum;
  }

 private:
  std::vector<T> of_;
  std::int64_t factors_ = 0;
};

// The other elements provide a different one for each weight. With as many weights as elements they are too few, and
// the gradient is 0.
template <class T>
void differentiate_product(const T* x, const std::vector<const T*>& g, T dy, T* dx,
                           const std::vector<std::int64_t>& at) {
  if (g.size() >= at.size()) {
    for (const std::int64_t i : at) dx[i] = 0;
    return;
  }
  std::vector<weighted_product<T>> before;
  weighted_product<T> product(g.size());
  for (const std::int64_t i : at) {
    before.push_back(product);
    product.times(x[i], g, i);
  }
  product = weighted_product<T>(g.size());
  for (std::size_t k = at.size(); k-- > 0;) {
    dx[at[k]] = dy * before[k].all_with(product);
    product.times(x[at[k]], g, at[k]);
  }
}

template <class T>
void run_prod_grad(kernel_context& c, const attributes& attrs) {
  const any_tensor dy = c.input(0), x = c.input(1), dx = c.allocate(0, x.dtype(), x.shape());
  const axis_set axes = reduced_axes(attrs, x.shape().rank());
  std::vector<any_tensor> weights;
  for (std::size_t i = 2; i < c.inputs.size(); ++i) weights.push_back(c.inputs[i]);
  expect_weights(x.shape(), weights);
  kept_by_gradient(dy.shape(), x.shape(), axes);
  if (x.count() == 0) return;
  c.launch([dy, x, weights, dx, axes, services = c.services] {
    const auto kept = offsets_along(x.shape(), axes, false), reduced = offsets_along(x.shape(), axes, true);
    const auto n = static_cast<std::int64_t>(kept.size());
    const auto cost = static_cast<std::int64_t>(reduced.size()) << weights.size();
    in_ranges(*services, n, cost, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t at = kept[static_cast<std::size_t>(k)];
        const T slope = dy.data<T>()[k], *const from = x.data<T>() + at;
        T* const to = dx.data<T>() + at;
        if (weights.empty()) {
          differentiate_product(from, slope, to, reduced);
          continue;
        }
        std::vector<const T*> g;
        for (const any_tensor& w : weights) g.push_back(w.data<T>() + at);
        differentiate_product(from, g, slope, to, reduced);
      }
    });
  });
}

// ---- argmax and argmin

template <class T, class Fold>
void run_argmax(kernel_context& c, std::int64_t attribute) {
  const any_tensor& in = c.input(0);
  const shape& x = in.shape();
  const int axis = checked_axis(attribute, x.rank());
  any_tensor& out = c.allocate(0, dtype::int64, without_axes(x, {1u << axis}, false));
  if (out.count() == 0) return;
  const greatest_of of(x, axis);
  c.launch([x = in.data<T>(), y = out.data<std::int64_t>(), count = out.count(), n = of.n, inner = of.inner,
            services = c.services] {
    if (inner == 1)
      return in_ranges(*services, count, n, [&](std::int64_t first, std::int64_t last) {
        scalar::dispatch<loops::argmax_rows<T, Fold>>(x + first * n, y + first, n, last - first);
      });
    constexpr std::int64_t strip = loops::fold_pass::strip;
    const std::int64_t strips = (inner + strip - 1) / strip;
    in_ranges(
        *services, count / inner * strips, n * std::min(inner, strip), [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t outer = i / strips, column = i % strips * strip;
            scalar::dispatch<loops::argmax_columns<T, Fold>>(x + outer * n * inner + column, y + outer * inner + column,
                                                             n, inner, std::min(strip, inner - column));
          }
        });
  });
}

template <class Fold>
std::unique_ptr<kernel> make_argmax(const kernel_setup& setup) {
  return visit_number(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel(
        [axis = setup.attrs().get<std::int64_t>("axis")](kernel_context& c) { run_argmax<T, Fold>(c, axis); });
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(expand_like, const kernel_setup& setup) {
  return detail::visit_number(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([attrs = setup.attrs()](kernel_context& c) { detail::expand<T>(c, attrs); });
  });
}

inline std::unique_ptr<kernel> make_kernel(prod_grad, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(1).dtype, [&]<class T>() {
    return make_function_kernel([attrs = setup.attrs()](kernel_context& c) { detail::run_prod_grad<T>(c, attrs); });
  });
}

inline std::unique_ptr<kernel> make_kernel(argmax, const kernel_setup& setup) {
  return detail::make_argmax<loops::fold_max>(setup);
}
inline std::unique_ptr<kernel> make_kernel(argmin, const kernel_setup& setup) {
  return detail::make_argmax<loops::fold_min>(setup);
}

}}}  // namespace pinion::v0::op
