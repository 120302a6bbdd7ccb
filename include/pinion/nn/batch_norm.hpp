// Batch normalisation, and a dropout layer that is active in training only.
//
//   mean, variance = those of the batch in training, the moving averages in prediction
//   y              = (x - mean) / sqrt(variance + epsilon) gamma + beta
//   moving         = momentum moving + (1 - momentum) that of the batch         (an update op)
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/refused.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/nn/training_flag.hpp>
#include <pinion/nn/update_ops.hpp>
#include <pinion/op/einsum/functions.hpp>
#include <pinion/op/nn/functions.hpp>
#include <pinion/op/reduce/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// Options of batch_norm. The defaults are those of tf.layers.batch_normalization. A momentum of .99 forgets the first
// averages in some 500 steps; a small data set wants .9.
struct batch_norm_options {
  training_flag training = false;
  double momentum = .99;             // of the moving averages
  double epsilon = 1e-3;             // added to the variance under the root
  bool center = true, scale = true;  // use beta, use gamma
  std::string_view name = "batch_normalization";
};

namespace detail {

// Throws invalid_argument for a shape other than [n, .., channels] of a known number of channels.
void expect_channels(std::string_view layer, const shape& extent, const any_expr& of);
// All axes but the last one of a tensor of a rank.
axis_list all_but_channels(int rank);

// Mean and variance of each channel.
template <class T>
std::tuple<expr<T>, expr<T>> moments_of(const expr<T>& x, source_location where) {
  const axis_list others = all_but_channels(x.shape().rank());
  const expr<T> mean = reduce_mean(x, {.axes = others}, where);
  return {mean, reduce_mean(square(x - mean), {.axes = others}, where)};
}
// The same, and those given where x is empty.
template <class T>
std::tuple<expr<T>, expr<T>> moments_of(const expr<T>& x, const expr<T>& mean_of_none, const expr<T>& variance_of_none,
                                        source_location where) {
  const auto [mean, variance] = moments_of<T>(x, where);
  if (x.shape().known() && x.shape().count() > 0) return {mean, variance};
  const expr<bool> is_empty = reduce_min(shape_of(x, {}, where), {}, where) == 0;
  return {select(is_empty, mean_of_none, mean), select(is_empty, variance_of_none, variance)};
}

}  // namespace detail

// Normalises each channel, which is the last axis: x minus its mean, divided by sqrt(variance + epsilon), then
// multiplied by the variable NAME/gamma, plus the variable NAME/beta (Ioffe and Szegedy 2015). Training uses the mean
// and the population variance of the batch, as tf.nn.moments computes them; prediction uses the moving averages
// NAME/moving_mean and NAME/moving_variance, which are not trainable. minimize() of a loss that depends on the layer
// runs the operations that update the averages; a step that applies gradients otherwise depends on pn::nn::update_ops()
// (update_ops.hpp). A batch of no rows is normalised by the averages, and leaves them as they are.
//
// Throws invalid_argument unless the operand has at least two axes and a known number of channels. float, double. Where
// the flag is an expression, a step that predicts leaves the averages as they are, although it runs the updates. A flag
// that is fixed to false makes no updates at all. The moving averages begin as 0 and 1 and are saved with the other
// variables. A batch of one row normalises to beta in training.
//
//   auto h = pn::relu(pn::nn::batch_norm(pn::nn::dense(x, 160), {.training = training, .name = "norm"}));
template <dsl::graph_operand A>
expr<dsl::value_of<A>> batch_norm(A&& operand, const batch_norm_options& o = {},
                                  source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const shape extent = operand.shape();
  detail::expect_channels("batch_norm", extent, operand);
  const called_from line(where);
  const name_scope scope{o.name};
  const expr<T> x = std::forward<A>(operand);
  const shape channels{extent[extent.rank() - 1]};
  const auto weights = [&](const char* name, T first, bool trainable) {
    return variable(fill<T>(channels, first, {}, where), {.name = name, .trainable = trainable}, where);
  };
  const auto moving_mean = weights("moving_mean", 0, false), moving_variance = weights("moving_variance", 1, false);
  const expr<T> old_mean = moving_mean.read(where), old_variance = moving_variance.read(where);
  const auto used = o.training.choose([&] { return detail::moments_of<T>(x, old_mean, old_variance, where); },
                                      [&] {
                                        return std::tuple{old_mean, old_variance};
                                      });
  const auto& [mean, variance] = used;
  if (!o.training.is_fixed() || o.training.fixed()) {  // prediction leaves the averages as they are
    const T rest = static_cast<T>(1 - o.momentum);
    add_update(assign_sub(moving_mean, (old_mean - mean) * rest, where), mean);
    add_update(assign_sub(moving_variance, (old_variance - variance) * rest, where), mean);
  }
  expr<T> factor = rsqrt(variance + static_cast<T>(o.epsilon), {}, where);
  if (o.scale) {
    const auto gamma = weights("gamma", 1, true);
    factor = factor * gamma;
  }
  if (!o.center) return (x - mean) * factor;
  const auto beta = weights("beta", 0, true);
  return (x - mean) * factor + beta;
}

template <dsl::graph_operand A, class F>
requires std::is_convertible_v<const F&, training_flag> PINION_REFUSED(
    "batch_norm takes its flag by name: batch_norm(x, {.training = training})")
batch_norm(A&&, const F&, const batch_norm_options& = {}) PINION_REFUSAL;

// Options of nn::dropout. `rate` is the part of the elements that is dropped, in [0, 1). The seed 0 draws others in
// each session.
struct dropout_layer_options {
  double rate = .5;
  training_flag training = false;
  std::int64_t seed = 0;
  std::string_view name = "dropout";
};

// Applies pn::dropout in training, and yields x in prediction. The default flag is false, which changes nothing: pass
// the flag of the step. Throws invalid_argument for a rate outside [0, 1) where the layer can train.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> dropout(A&& operand, const dropout_layer_options& o = {},
                               source_location where = source_location::current()) {
  const called_from line(where);
  const expr<dsl::value_of<A>> x = std::forward<A>(operand);
  const auto dropped = [&]() -> expr<dsl::value_of<A>> {
    return pinion::dropout(x, {.rate = o.rate, .seed = o.seed, .name = o.name}, where);
  };
  return o.training.choose(dropped, [&]() -> expr<dsl::value_of<A>> { return x; });
}

}}}  // namespace pinion::v0::nn

#if PINION_HEADER_ONLY
#include <pinion/nn/batch_norm.ipp>
#endif
