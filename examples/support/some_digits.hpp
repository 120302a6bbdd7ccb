// Some of the digits only, for a task of few examples.
#pragma once

#include <pinion/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

#include "handwriting.hpp"

namespace mnist {

struct task {
  pinion::tensor<float> images;
  pinion::tensor<int> classes;
};

// The first `count` digits, in so many classes: by themselves, or even and odd.
inline task some(const digits& all, std::size_t count, int classes) {
  const auto n = static_cast<std::int64_t>(count), each = static_cast<std::int64_t>(pixels);
  std::vector<int> of(all.labels.begin(), all.labels.begin() + n);
  for (int& label : of) label %= classes;
  return {{{n, each}, std::vector<float>(all.images.begin(), all.images.begin() + n * each)}, {pinion::shape{n}, of}};
}

}  // namespace mnist
