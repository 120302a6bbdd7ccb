// Some of the digits only, for tasks that are learnt one after the other.
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

// The first `count` digits of five neighbouring kinds.
inline task digits_of(const digits& all, int lowest, std::size_t count) {
  std::vector<float> images;
  std::vector<int> classes;
  for (std::size_t i = 0; i < all.count && classes.size() < count; ++i) {
    if (all.labels[i] < lowest || all.labels[i] > lowest + 4) continue;
    const auto from = all.images.begin() + static_cast<std::ptrdiff_t>(i * pixels);
    images.insert(images.end(), from, from + pixels);
    classes.push_back(all.labels[i] - lowest);
  }
  const auto n = static_cast<std::int64_t>(classes.size());
  return {{{n, 784}, images}, {pinion::shape{n}, classes}};
}

}  // namespace mnist
