// Normalisation of groups of channels, over all places of an example: group_norm and instance_norm.
//
//   auto y = pn::group_norm(x, gamma, beta, {.groups = 8});     // [n, h, w, c], [c], [c] -> [n, h, w, c]
#pragma once

#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/reduce/global_pool.hpp>
#include <pinion/op/source/functions.hpp>

namespace pinion { inline namespace v0 {

// Options of group_norm. Epsilon is added to the variance under the root. The name is that of a name scope around the
// nodes.
struct group_norm_options {
  std::int64_t groups = 32;
  double epsilon = 1e-5;
  std::string_view name = "group_norm";
};
// Options of instance_norm.
struct instance_norm_options {
  double epsilon = 1e-5;
  std::string_view name = "instance_norm";
};

namespace dsl {
// Throws invalid_argument unless x is [n, ..., channels] of a known rank and number of channels, which `groups`
// divides, and gamma and beta may be [channels].
void expect_norm_of_groups(const char* function, const shape& x, const shape& gamma, const shape& beta,
                           std::int64_t groups);

// The means of the elements of each example and group: x [n, ..., c] -> [n, 1, ..., c], equal within a group.
template <class T>
expr<T> means_of_groups(const expr<T>& x, std::int64_t groups, source_location where) {
  const shape extent = x.shape();
  const std::int64_t channels = extent[extent.rank() - 1], n = extent[0] < 0 ? -1 : extent[0];
  const expr<T> means =
      extent.rank() == 2 ? x
                         : expr<T>(reduce_mean(x, {.axes = axes_of_space("a norm", extent), .keep_dims = true}, where));
  if (groups == channels) return means;
  const expr<T> by_group = reshape(means, {n, groups, channels / groups}, {}, where);
  const expr<T> of_group = reduce_mean(by_group, {.axes = {2}, .keep_dims = true}, where);
  shape one_each = extent;
  one_each.set(0, n);
  for (int axis = 1; axis < extent.rank() - 1; ++axis) one_each.set(axis, 1);
  return reshape(add(of_group, zeros<T>({channels / groups}, {}, where), {}, where), one_each, {}, where);
}
template <class T>
expr<T> norm_of_groups(const expr<T>& x, const expr<T>& gamma, const expr<T>& beta, std::int64_t groups, double epsilon,
                       source_location where) {
  const expr<T> centered = x - means_of_groups(x, groups, where);
  const expr<T> variance = means_of_groups<T>(square(centered), groups, where);
  return centered * rsqrt(variance + static_cast<T>(epsilon)) * gamma + beta;
}
}  // namespace dsl

// Each element minus the mean of its group, divided by sqrt(variance + epsilon), times gamma, plus beta (Wu and He
// 2018). x [n, ..., c] has two axes or more, and gamma and beta are [c]. Of c channels, each group has the next c /
// groups ones, and its mean and variance are those of their elements in one example. The result has the shape of x.
// Made of reductions and elementwise operations; differentiable by all three, in every order. float, double. Throws
// invalid_argument for an unknown rank or number of channels, for groups that do not divide it, and for other shapes of
// gamma and beta. All other extents may be unknown. Keras: GroupNormalization; PyTorch: group_norm, channels first.
template <dsl::graph_operand A, dsl::graph_operand G, dsl::graph_operand B>
expr<dsl::value_of<A>> group_norm(A&& x, G&& gamma, B&& beta, const group_norm_options& options = {},
                                  source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(dsl::same_dtype<T, dsl::value_of<G>> && dsl::same_dtype<T, dsl::value_of<B>>,
                "the operands have different dtypes; pn::cast<T>(x) converts one of them");
  dsl::check_floating<A>();
  dsl::expect_norm_of_groups("group_norm", x.shape(), gamma.shape(), beta.shape(), options.groups);
  const called_from line(where);
  const name_scope scope{options.name};
  return dsl::norm_of_groups<T>(std::forward<A>(x), std::forward<G>(gamma), std::forward<B>(beta), options.groups,
                                options.epsilon, where);
}

// group_norm of as many groups as there are channels, so that each channel of an example has mean 0 and variance 1
// before gamma and beta (Ulyanov, Vedaldi and Lempitsky 2016). x has three axes or more.
template <dsl::graph_operand A, dsl::graph_operand G, dsl::graph_operand B>
expr<dsl::value_of<A>> instance_norm(A&& x, G&& gamma, B&& beta, const instance_norm_options& options = {},
                                     source_location where = source_location::current()) {
  const shape extent = x.shape();
  dsl::axes_of_space("instance_norm", extent);
  const std::int64_t channels = extent[extent.rank() - 1];
  return group_norm(std::forward<A>(x), std::forward<G>(gamma), std::forward<B>(beta),
                    {.groups = channels, .epsilon = options.epsilon, .name = options.name}, where);
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/norm/group_norm.ipp>
#endif
