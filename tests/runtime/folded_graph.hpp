// A graph on a simulated GPU, of which optimization folds some nodes into others.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/session.hpp>

#include "support/own_graph.hpp"

// A graph of its own on a device, with an input of three columns, and the rows that it is fed.
struct folded_graph : own_graph {
  pinion::device on;
  pinion::expr<float> x = pinion::placeholder<float>({pinion::unknown, 3}, "x");
  pinion::tensor<float> fed;

  folded_graph(const char* where, pinion::tensor<float> rows) : on(where), fed(std::move(rows)) {}

  static pinion::session session(bool optimize = true) {
    return pinion::session({.simulated = {pinion::sim::gpu()}, .optimize = optimize});
  }
  // Tells whether fetches have the values with optimization that they have without it.
  template <class... Fetches>
  bool keeps_values(const Fetches&... fetches) const {
    return values(true, fetches...) == values(false, fetches...);
  }

 private:
  template <class... Fetches>
  std::vector<std::string> values(bool optimize, const Fetches&... fetches) const {
    pinion::session sess = session(optimize);
    std::vector<std::string> all;
    for (const auto& value : sess.run(pinion::run_request{{{x, fed}}, {pinion::any_expr(fetches)...}}))
      all.push_back(to_string(value));
    return all;
  }
};
