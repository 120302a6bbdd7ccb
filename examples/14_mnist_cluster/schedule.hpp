// The learning rate of workers that update asynchronously.
#pragma once

#include <algorithm>
#include <string>

#include <fmt/format.h>

// A gradient meets variables that the other workers have moved meanwhile. With much momentum that acts like a larger
// rate, the more so the more workers there are: on MNIST three at .02 end in NaN, and six at .01. So the rate is small
// where many work, warmed up while gradients are large, and taken down to 0, where their noise is all that is left.
struct schedule {
  int workers;

  static constexpr double warm_up = .1, decay = .7;  // parts of the way

  double peak() const { return std::min(.01, .03 / workers); }
  // At a part of the way, from 0 to 1.
  float operator()(double done) const {
    return static_cast<float>(peak() * std::min({1.0, (done + .001) / warm_up, (1 - done) / decay}));
  }
  std::string text() const {
    return fmt::format("learning rate {:.2g}, warmed up over the first {:.0f} %, down to 0 over the last {:.0f} %",
                       peak(), 100 * warm_up, 100 * decay) +
           (workers > 1 ? fmt::format(", since {} workers update asynchronously", workers) : "");
  }
};
