// The network that the examples train on handwritten digits.
//
//   X [?, 784] ── n x (MatMul ── bias, ELU) [?, units] ── MatMul ── bias [?, 10] ── cross entropy ── loss
//
#pragma once

#include <pinion/train.hpp>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "digits.hpp"

namespace mnist {

struct layer {
  pinion::variable_handle<float> W, b;
};

struct model {
  pinion::expr<float> X, pixels, loss, accuracy;  // pixels: what is left of X
  pinion::expr<std::int32_t> y;
};

// A part of the pixels is dropped, others each time, so that no unit relies on one of them. A test feeds `pixels`
// itself, and so leaves that out.
inline pinion::expr<float> drop(const pinion::expr<float>& X, double part, std::int64_t seed) {
  return part > 0 ? pinion::dropout(X, {.rate = part, .seed = seed}) : X;
}

inline layer make_layer(std::int64_t inputs, std::int64_t units, double stddev, std::int64_t seed) {
  namespace pn = pinion;
  auto W = pn::variable(pn::truncated_normal<float>({inputs, units}, {.stddev = stddev, .seed = seed}), {.name = "W"});
  auto b = pn::variable(pn::tensor<float>({units}), {.name = "b"});
  return {W, b};
}

// The variables of the hidden layers, which begin as He et al. (2015) have it.
inline std::vector<layer> make_hidden(int layers, std::int64_t units, std::int64_t seed) {
  std::vector<layer> all;
  for (int i = 0; i < layers; ++i) {
    const pinion::name_scope scope("layer");
    const std::int64_t inputs = i == 0 ? static_cast<std::int64_t>(pixels) : units;
    all.push_back(make_layer(inputs, units, std::sqrt(2.0 / static_cast<double>(inputs)), seed + i));
  }
  return all;
}

// What is computed of the logits [?, 10] of images.
inline model judge(const pinion::expr<float>& X, const pinion::expr<float>& pixels, const pinion::expr<float>& logits) {
  namespace pn = pinion;
  auto y = pn::placeholder<std::int32_t>({pn::unknown}, "y");
  auto loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(y, logits));
  auto accuracy = pn::reduce_mean(pn::cast<float>(pn::in_top_k(logits, y, 1)));
  return {X, pixels, loss, accuracy, y};
}

// A network on hidden layers, with a head of its own. The layers are used in a loop: every expression converts to the
// storable pinion::expr<float>.
inline model make_head(const std::vector<layer>& hidden, std::int64_t seed, double dropped = 0) {
  namespace pn = pinion;
  auto X = pn::placeholder<float>({pn::unknown, 784}, "X");
  const pn::expr<float> pixels = drop(X, dropped, seed);
  pn::expr<float> h = pixels;
  for (const auto& [W, b] : hidden) h = pn::elu(pn::matmul(h, W) + b);
  const layer head = make_layer(h.shape()[1], 10, .1, seed);
  return judge(X, pixels, pn::matmul(h, head.W) + head.b);
}

inline model build(int hidden_layers, std::int64_t units, std::int64_t seed, double dropped = 0) {
  return make_head(make_hidden(hidden_layers, units, seed), seed + hidden_layers, dropped);
}

// A learning rate that is warmed up over the first tenth of the steps, and falls to 0 at the last.
inline pinion::expr<double> rate(double peak, const pinion::expr<std::int64_t>& step, std::int64_t last) {
  namespace tr = pinion::train;
  const auto steps = static_cast<double>(last);
  const auto falling = tr::polynomial_decay(peak, step, {.decay_steps = steps, .end_learning_rate = 0});
  return tr::linear_warmup(falling, step, {.warmup_steps = steps / 10});
}

inline pinion::tensor<float> images(const digits& d) {
  return {{static_cast<std::int64_t>(d.count), static_cast<std::int64_t>(pixels)}, d.images};
}
inline pinion::tensor<std::int32_t> labels(const digits& d) {
  return {pinion::shape{static_cast<std::int64_t>(d.count)}, d.labels};
}

// The part of the digits that it names rightly.
inline float test(pinion::session& sess, const model& m, const digits& d) {
  return sess.run({{m.pixels, images(d)}, {m.y, labels(d)}}, m.accuracy);
}

}  // namespace mnist
