// The number of updates made so far, as a variable of the graph.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/dsl/expr.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The global step of the default graph, int64 and not trainable, made on first use.
variable_handle<std::int64_t> get_or_create_global_step(source_location where = source_location::current());

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/global_step.ipp>
#endif
