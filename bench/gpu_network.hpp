// The networks that are trained on GPUs: dense layers with ELU between them, softmax cross entropy and momentum.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <pinion/train.hpp>

namespace bench {

inline const std::vector<std::int64_t> mnist_sizes{784, 160, 160, 160, 160, 160, 10};
inline const std::vector<std::int64_t> wide_sizes{4096, 4096, 4096, 4096, 10};

// Its nodes stand under a guard of the first GPU, in the graph in use.
struct network {
  explicit network(const std::vector<std::int64_t>& sizes) {
    namespace pn = pinion;
    const pn::device on("/gpu:0");
    images = pn::placeholder<float>({pn::unknown, sizes.front()}, "X");
    labels = pn::placeholder<std::int32_t>({pn::unknown}, "y");
    pn::expr<float> h = images;
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      const double stddev = std::sqrt(2 / static_cast<double>(sizes[i]));
      auto W = pn::variable(pn::truncated_normal<float>({sizes[i], sizes[i + 1]}, {.stddev = stddev, .seed = 1}));
      auto b = pn::variable(pn::tensor<float>({sizes[i + 1]}));
      if (i + 2 < sizes.size())
        h = pn::elu(pn::matmul(h, W) + b);
      else
        h = pn::matmul(h, W) + b;
    }
    loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(labels, h));
    train = pn::train::momentum{{.learning_rate = .001f, .momentum = .95f}}.minimize(loss);
    init = pn::global_variables_initializer();
  }

  pinion::expr<float> images, loss;
  pinion::expr<std::int32_t> labels;
  pinion::operation train, init;
};

}  // namespace bench
