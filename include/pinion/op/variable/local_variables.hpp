// Variables that belong to one task alone, and are not kept: counters of metrics and the like.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/graph/operation.hpp>

namespace pinion { inline namespace v0 {

// Runs the initialisers of all local variables of the default graph made so far: those made with {.local = true}.
operation local_variables_initializer(std::string_view name = "init_local",
                                      source_location where = source_location::current());

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/variable/local_variables.ipp>
#endif
