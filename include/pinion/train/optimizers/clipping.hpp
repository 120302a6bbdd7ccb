// Clipping: keeping values, mostly gradients, within bounds. Formulas: TensorFlow 1.15, python/ops/clip_ops.py.
//
// Lists of gradients are those of compute_gradients, dense and sparse. Of a sparse one the rows are clipped as they
// are, those of one index not yet added up, as in TensorFlow.
#pragma once

#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/op/elementwise/spelling.hpp>
#include <pinion/op/matmul/spelling.hpp>
#include <pinion/op/reduce/spelling.hpp>
#include <pinion/train/optimizers/gradient_of_variable.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {
void expect_positive(const char* function, double norm);
template <class T>
expr<T> clipped_by_norm(const expr<T>& x, double clip_norm, const axis_list& axes) {
  const expr<T> squares = reduce_sum(square(x), {.axes = axes, .keep_dims = true});
  return x * static_cast<T>(clip_norm) / maximum(sqrt(squares), static_cast<T>(clip_norm));
}
// What scales values of that norm down to the clip norm, or NaN where the norm is not finite.
template <class T>
expr<T> global_scale(const expr<T>& norm, double clip_norm) {
  const expr<T> scale = static_cast<T>(clip_norm) * minimum(T(1) / norm, static_cast<T>(1 / clip_norm));
  return scale + (norm - norm);  // 0, but NaN of an infinity and of NaN
}
}  // namespace detail

// Each element below `low` becomes `low`, each above `high` `high`; NaN stays. Throws invalid_argument where low >
// high.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> clip_by_value(const A& x, dsl::value_of<A> low, dsl::value_of<A> high,
                                     source_location where = source_location::current()) {
  if (!(low <= high))
    throw error(errc::invalid_argument, "clip_by_value of '" + x.name() + "': the lowest value, " +
                                            std::to_string(low) + ", is above the highest, " + std::to_string(high));
  const expr<dsl::value_of<A>> at_most = minimum(x, high, {}, where);
  return maximum(at_most, low, {}, where);
}

// x, scaled so that its norm, the root of the sum of squares over some axes or all, is at most clip_norm: x clip_norm /
// max(norm, clip_norm). NaN anywhere makes NaN of all; an infinite element becomes NaN, and the others beside it 0.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> clip_by_norm(const A& x, double clip_norm, const axis_list& axes = {},
                                    source_location where = source_location::current()) {
  const called_from line(where);
  dsl::check_floating<A>();
  detail::expect_positive("clip_by_norm", clip_norm);
  return detail::clipped_by_norm(expr<dsl::value_of<A>>(x), clip_norm, axes);
}

// The root of the sum of the squares of all elements of all tensors.
template <element T>
expr<T> global_norm(const std::vector<expr<T>>& list, source_location where = source_location::current()) {
  const called_from line(where);
  dsl::check_floating<expr<T>>();
  if (list.empty()) throw error(errc::invalid_argument, "global_norm was given no tensors");
  expr<T> sum;
  for (const expr<T>& x : list) {
    const expr<T> squares = [&] {
      const beside there(x.owner(), x.id());
      return expr<T>(reduce_sum(square(x)));
    }();
    sum = sum.empty() ? squares : expr<T>(sum + squares);
  }
  return sqrt(sum);
}

template <element T>
struct clipped_list {
  std::vector<expr<T>> list;
  expr<T> norm;  // before
};
// All tensors, scaled alike, so that their global norm is at most clip_norm. Where it is infinite or NaN all elements
// of all tensors become NaN: a step that has gone wrong is seen.
template <element T>
clipped_list<T> clip_by_global_norm(const std::vector<expr<T>>& list, double clip_norm,
                                    source_location where = source_location::current()) {
  const called_from line(where);
  detail::expect_positive("clip_by_global_norm", clip_norm);
  clipped_list<T> clipped{{}, global_norm(list)};
  const expr<T> scale = detail::global_scale(clipped.norm, clip_norm);
  for (const expr<T>& x : list) {
    const beside there(x.owner(), x.id());
    clipped.list.push_back(x * scale);
  }
  return clipped;
}

// ---- gradients of the default graph
// Templates only so that who does not clip does not compile kernels for it.

// As clip_by_value of each.
std::vector<gradient_of_variable> clip_by_value(const std::vector<gradient_of_variable>& gradients, double low,
                                                double high, source_location where = source_location::current());
// As clip_by_norm of each.
std::vector<gradient_of_variable> clip_by_norm(const std::vector<gradient_of_variable>& gradients, double clip_norm,
                                               source_location where = source_location::current());

// The global norm in double, whatever the gradients are; squares are added up in their own dtype. Those that are empty
// are passed over.
expr<double> global_norm(const std::vector<gradient_of_variable>& gradients,
                         source_location where = source_location::current());

struct clipped_gradients {
  std::vector<gradient_of_variable> gradients;
  expr<double> norm;  // before
};
// As of a list of tensors: auto [gradients, norm] = clip_by_global_norm(o.compute_gradients(loss), 5).
clipped_gradients clip_by_global_norm(const std::vector<gradient_of_variable>& gradients, double clip_norm,
                                      source_location where = source_location::current());

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/clipping.ipp>
#endif
