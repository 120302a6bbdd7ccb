// Variables that belong to one task and are not saved: the counters of metrics, for example.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/graph/operation.hpp>

namespace pinion { inline namespace v0 {

// An operation that runs the initialisers of all local variables made so far in the default graph: those made with
// {.local = true}. global_variables_initializer() passes these over, and savers do not write them. Monitored sessions
// run it in every process that begins; a program with a plain session runs it itself. TensorFlow:
// tf.local_variables_initializer.
operation local_variables_initializer(std::string_view name = "init_local",
                                      source_location where = source_location::current());

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/variable/local_variables.ipp>
#endif
