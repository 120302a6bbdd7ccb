// Keeps a step within a limit of memory: values that are wanted long after they were computed are computed again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/runtime/optimize/placed_draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A step that was made to fit.
struct fitted_step {
  optimized_step step;
  std::string told =
      {};            // for people: what is computed again, and what the step needs then; "" where it fitted as it was
  bool fits = true;  // false: it needs more than the limit all the same
};

// Has the step's nodes computed again where that brings its memory on each device within `limit` bytes: variables, and
// the values that are in use at once where nodes run in order. The nodes before the moment of the greatest need are
// cut into stretches where few values cross; copies of the nodes of the first stretches compute what is read after that
// moment, as those that pn::recompute makes do. Of all numbers of stretches, with all nodes or only with cheap ones
// (Chen et al., Training deep nets with sublinear memory cost, 2016; Korthikanti et al., Reducing activation
// recomputation in large transformer models, 2022), the choice with the fewest operations counts that fits, else the
// one with the least memory. `spared` makes the step as it is to be where memory counts, and is called where `step`
// needs too much. Requires: both have graphs of their own. An unknown extent counts as `unknown_extent`.
fitted_step fit_memory(optimized_step step, std::int64_t limit, std::int64_t unknown_extent,
                       const std::function<optimized_step()>& spared);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/fit_memory.ipp>
#endif
