// Clipping: keeping values within bounds, mostly gradients. Formulas: TensorFlow 1.15, python/ops/clip_ops.py.
//
//   auto [gradients, norm] = tr::clip_by_global_norm(optimizer.compute_gradients(loss), 5);
//   auto train = optimizer.apply_gradients(gradients);
//
// Functions of a list of gradients take those of compute_gradients, dense and sparse. The rows of a sparse gradient are
// clipped as they are; rows with the same index are not added up first, as in TensorFlow.
//
//   clip_by_value         each element by itself             the direction of a gradient may change
//   clip_by_norm          each tensor by its own norm        each direction stays
//   clip_by_global_norm   all tensors by one common norm     the direction of the whole step stays
#pragma once

#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/number_text.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/op/einsum/functions.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/reduce/functions.hpp>
#include <pinion/train/optimizers/gradient_of_variable.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {
// Throws invalid_argument, in the name of a function, unless the norm to clip to is positive.
void expect_positive(const char* function, double norm);
// Scales x to the norm over some axes.
template <class T>
expr<T> clipped_by_norm(const expr<T>& x, double clip_norm, const axis_list& axes) {
  const expr<T> squares = reduce_sum(square(x), {.axes = axes, .keep_dims = true});
  return x * static_cast<T>(clip_norm) / maximum(sqrt(squares), static_cast<T>(clip_norm));
}
// The factor that scales values of a global norm down to the clip norm; NaN if the norm is infinite or NaN.
template <class T>
expr<T> global_scale(const expr<T>& norm, double clip_norm) {
  const expr<T> scale = static_cast<T>(clip_norm) * minimum(T(1) / norm, static_cast<T>(1 / clip_norm));
  return scale + (norm - norm);  // this adds 0, or NaN if the norm is infinite or NaN
}
}  // namespace detail

// Limits each element to [low, high]; NaN stays NaN. The result has the shape and dtype of x. Throws invalid_argument
// if low > high.
//
//   auto y = tr::clip_by_value(x, -1.f, 1.f);
template <dsl::graph_operand A>
expr<dsl::value_of<A>> clip_by_value(const A& x, dsl::value_of<A> low, dsl::value_of<A> high,
                                     source_location where = source_location::current()) {
  if (!(low <= high))
    throw error(errc::invalid_argument, "clip_by_value of '" + x.name() + "': the lowest value, " + number_text(low) +
                                            ", is above the highest, " + number_text(high));
  const expr<dsl::value_of<A>> at_most = minimum(x, high, {}, where);
  return maximum(at_most, low, {}, where);
}

// Scales x so that its norm is at most clip_norm: x clip_norm / max(norm, clip_norm), where the norm is the root of the
// sum of squares over some axes, or over all. The result has the shape and dtype of x, which is float or double. A NaN
// makes all elements NaN; an infinite element becomes NaN, and the elements beside it 0. Throws invalid_argument unless
// clip_norm is positive.
//
//   auto rows = tr::clip_by_norm(x, 1, {1});    // x [n, c]: each row by its own norm
template <dsl::graph_operand A>
expr<dsl::value_of<A>> clip_by_norm(const A& x, double clip_norm, const axis_list& axes = {},
                                    source_location where = source_location::current()) {
  const called_from line(where);
  dsl::check_floating<A>();
  detail::expect_positive("clip_by_norm", clip_norm);
  return detail::clipped_by_norm(expr<dsl::value_of<A>>(x), clip_norm, axes);
}

// The global norm of some tensors: the root of the sum of the squares of all their elements. The squares of a tensor
// are summed up on its device. Throws invalid_argument for an empty list.
template <element T>
expr<T> global_norm(const std::vector<expr<T>>& list, source_location where = source_location::current()) {
  const called_from line(where);
  dsl::check_floating<expr<T>>();
  if (list.empty()) throw error(errc::invalid_argument, "global_norm was given no tensors");
  expr<T> sum;
  for (const expr<T>& x : list) {
    const expr<T> squares = [&] {
      const same_device there(x.owner(), x.id(x.owner()));
      return expr<T>(reduce_sum(square(x)));
    }();
    sum = sum.empty() ? squares : expr<T>(sum + squares);
  }
  return sqrt(sum);
}

// The result of clip_by_global_norm.
template <element T>
struct clipped_list {
  // The scaled tensors, in the order of the list.
  std::vector<expr<T>> list;
  expr<T> norm;  // the global norm before clipping
};
// Scales all tensors by one factor, so that their global norm is at most clip_norm. Where the norm is infinite or NaN,
// all elements of all tensors become NaN, so that a step that has gone wrong is noticed. Throws invalid_argument unless
// clip_norm is positive, and for an empty list.
template <element T>
clipped_list<T> clip_by_global_norm(const std::vector<expr<T>>& list, double clip_norm,
                                    source_location where = source_location::current()) {
  const called_from line(where);
  detail::expect_positive("clip_by_global_norm", clip_norm);
  clipped_list<T> clipped{{}, global_norm(list)};
  const expr<T> scale = detail::global_scale(clipped.norm, clip_norm);
  for (const expr<T>& x : list) {
    const same_device there(x.owner(), x.id(x.owner()));
    clipped.list.push_back(x * scale);
  }
  return clipped;
}

// ---- gradients of the default graph
// These are compiled once, in the library, so that a program that does not clip compiles no kernels for it.

// Applies clip_by_value to each gradient. Throws invalid_argument if low > high.
std::vector<gradient_of_variable> clip_by_value(const std::vector<gradient_of_variable>& gradients, double low,
                                                double high, source_location where = source_location::current());
// Applies clip_by_norm to each gradient by itself. Throws invalid_argument unless clip_norm is positive.
std::vector<gradient_of_variable> clip_by_norm(const std::vector<gradient_of_variable>& gradients, double clip_norm,
                                               source_location where = source_location::current());

// The global norm of all gradients, in double for every dtype. Each gradient's squares are summed up in its own dtype.
// Empty gradients are passed over. Throws invalid_argument if all are empty.
expr<double> global_norm(const std::vector<gradient_of_variable>& gradients,
                         source_location where = source_location::current());

// The result of clip_by_global_norm.
struct clipped_gradients {
  // The scaled gradients, each with its variable.
  std::vector<gradient_of_variable> gradients;
  expr<double> norm;  // the global norm before clipping
};
// Scales all gradients by one factor, so that their global norm is at most clip_norm; the direction of the step stays.
// An infinite or NaN norm makes all elements NaN. Throws invalid_argument unless clip_norm is positive.
clipped_gradients clip_by_global_norm(const std::vector<gradient_of_variable>& gradients, double clip_norm,
                                      source_location where = source_location::current());

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/clipping.ipp>
#endif
