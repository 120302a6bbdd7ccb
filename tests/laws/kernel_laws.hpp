// What laws of kernels are made of: values that break things, and the faults of what a kernel yields.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "laws/machine.hpp"
#include "laws/ops/map.hpp"
#include "laws/reference.hpp"

namespace laws {

// The values that break things: several rounds, so that an infinity or a NaN is alone with finite numbers.
inline std::vector<std::vector<any_tensor>> special_values(const sample& s, dtype key) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const bool single = key == dtype::float32;
  const double tiny = single ? std::numeric_limits<float>::denorm_min() : std::numeric_limits<double>::denorm_min();
  const double least = single ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
  const std::vector<std::vector<double>> rounds{
      {0.0, -0.0, 1, -1, tiny, -tiny}, {inf, 1, -0.0, 2, 0.5},
      {-inf, 1, 0.0, 2, 0.5},          {NAN, 1, -2, 0, 0.5},
      {largest(key), 1, 0.5, least},   {-largest(key), 1, 0.5, -least, 88, -104, 1e-3, 709}};
  std::vector<std::vector<any_tensor>> all;
  for (const auto& values : rounds) {
    auto inputs = random_values(s, key);
    unsigned seed = 5;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!is_floating(inputs[i].dtype())) continue;
      std::mt19937 bits(seed++);
      const bool squares = s.inputs[i].is == role::state && s.inputs[i].low > 0;  // added up in a slot, under a root
      visit_plain(inputs[i].dtype(), [&]<class T>() {
        if constexpr (std::is_floating_point_v<T>)
          for (std::int64_t e = 0; e < inputs[i].count(); ++e) {
            const double v = values[bits() % values.size()];
            inputs[i].data<T>()[e] = static_cast<T>(squares ? std::max(std::abs(v), s.inputs[i].low) : v);
          }
      });
    }
    all.push_back(std::move(inputs));
  }
  return all;
}

// What is wrong with what a call yields; empty where nothing is.
inline std::string fault_of(const call& c, const std::vector<any_tensor>& got, const expectation& want) {
  if (got.size() != want.outputs.size())
    return "yields " + std::to_string(got.size()) + " outputs, not " + std::to_string(want.outputs.size());
  for (std::size_t o = 0; o < got.size(); ++o) {
    if (got[o].empty() || got[o].dtype() == dtype::string) continue;
    const auto y = numbers(got[o]);
    if (y.size() != want.outputs[o].size())
      return "output " + std::to_string(o) + " has " + std::to_string(y.size()) + " elements, not " +
             std::to_string(want.outputs[o].size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      const ranged& w = want.outputs[o][i];
      if (admits(w, y[i], got[o].dtype())) continue;
      char text[200];
      std::snprintf(text, sizeof text, "output %zu [%zu] is %.17g, not %.17g +- %.3g", o, i, y[i], w.value, w.slack);
      std::string inputs;
      for (const any_tensor& t : c.inputs)
        if (t.count() == got[o].count() && t.dtype() != dtype::string)
          inputs += " from " + std::to_string(numbers(t)[i]);
      return text + inputs;
    }
  }
  return "";
}

// A placeholder has its value from outside, a body its step; at a resource somebody waits for somebody else.
// Summaries run in a build with protozero.
inline bool runs_alone(std::string_view op) {
  for (std::string_view meeting : {"Queue", "Accumulator", "Barrier", "Clock"})
    if (op.find(meeting) != op.npos) return false;
  return op != "Placeholder" && op != "If" && op != "While" && (PINION_HAS_PROTOZERO || !op.ends_with("Summary"));
}

// Does the shape of what it yields depend on elements?
inline bool yields_by_elements(std::string_view op) {
  return op == "PartitionIndices" || op == "Where" || op == "MaskIndices" || op == "Unique" || op == "SplitV" ||
         (op.starts_with("Dynamic") && !op.ends_with("Grad"));
}

// Does the outcome of the largest numbers depend on the order in which a kernel adds or multiplies?
inline bool adds_up(std::string_view op) {
  return op == "Sum" || op == "Mean" || op == "Prod" || op.starts_with("MatMul") || op == "MapGrad" ||
         op == "MapReduce" || op.starts_with("Scatter") ||
         (op.find("Apply") != op.npos && op.find("GradientDescent") == op.npos) || op == "TileGrad" ||
         op == "MirrorPadGrad" || op == "AvgPool" || op == "AvgPoolGrad" || op == "MaxPoolGrad" ||
         op.starts_with("Conv2D") || op.starts_with("Resize");
}

}  // namespace laws
