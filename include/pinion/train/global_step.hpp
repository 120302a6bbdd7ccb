// The global step: the number of updates made so far, held in a variable of the graph.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/dsl/expr.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The global step of the default graph: a scalar int64 variable "global_step" that begins at 0 and is not trained. The
// first call makes it; later calls return the same variable, which the graph's collection "global_step" keeps.
// Optimizers count it through minimize_options::global_step; savers, hooks and schedules read it.
//
//   auto step = tr::get_or_create_global_step();
//   auto train = tr::gradient_descent{{.learning_rate = .1f}}.minimize(loss, {.global_step = step});
//
// Make it in every process of a cluster, outside of name scopes: it is then called "global_step" in all of them, and is
// one variable.
variable_handle<std::int64_t> get_or_create_global_step(source_location where = source_location::current());

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/global_step.ipp>
#endif
