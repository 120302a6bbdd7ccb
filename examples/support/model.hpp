// The network that the examples train on handwritten digits.
//
//   X [?, 784] ── n x (MatMul ── bias, ELU) [?, units] ── MatMul ── bias [?, 10] ── cross entropy ── loss
//
#pragma once

#include <pinion/train.hpp>

#include <cmath>
#include <cstdint>

#include "digits.hpp"

namespace mnist {

struct model {
  pinion::expr<float> X, loss, accuracy;
  pinion::expr<std::int32_t> y;
};

// The layers are made in a loop: every expression converts to the storable pinion::expr<float>.
inline model build(int hidden_layers, std::int64_t units, std::int64_t seed) {
  namespace pn = pinion;
  auto X = pn::placeholder<float>({pn::unknown, 784}, "X");
  auto y = pn::placeholder<std::int32_t>({pn::unknown}, "y");
  pn::expr<float> h = X;
  for (int i = 0; i < hidden_layers; ++i) {
    const pn::name_scope layer("layer");
    const auto inputs = h.shape()[1];
    const double stddev = std::sqrt(2.0 / static_cast<double>(inputs));
    auto W =
        pn::variable(pn::truncated_normal<float>({inputs, units}, {.stddev = stddev, .seed = seed + i}), {.name = "W"});
    auto b = pn::variable(pn::tensor<float>({units}), {.name = "b"});
    h = pn::elu(pn::matmul(h, W) + b);
  }
  auto W = pn::variable(pn::truncated_normal<float>({units, 10}, {.stddev = .1, .seed = seed + hidden_layers}),
                        {.name = "W"});
  auto b = pn::variable(pn::tensor<float>({10}), {.name = "b"});
  pn::expr<float> logits = pn::matmul(h, W) + b;
  auto loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(y, logits));
  auto accuracy = pn::reduce_mean(pn::cast<float>(pn::in_top_k(logits, y, 1)));
  return {X, loss, accuracy, y};
}

// The part of the digits that it names rightly.
inline float test(pinion::session& sess, const model& m, const digits& d) {
  const auto count = static_cast<std::int64_t>(d.count);
  const pinion::tensor<float> images({count, static_cast<std::int64_t>(pixels)}, d.images);
  const pinion::tensor<std::int32_t> labels({count}, d.labels);
  return sess.run({{m.X, images}, {m.y, labels}}, m.accuracy);
}

}  // namespace mnist
