// The rewrites of the library: patterns of nodes that other nodes of a step compute as well, in fewer or faster steps.
// Each stands in the folder of the ops that it makes.
#pragma once

#include <span>

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Rewrites what it finds in a draft, and returns how many nodes it has changed. It may ask for uses(), as they were
// when it began.
using rewrite = int (*)(draft&);

// Those that run before equal nodes are shared, and those that run once they are, each in order: of two that want the
// same node, the earlier one gets it.
std::span<const rewrite> early_rewrites();
std::span<const rewrite> late_rewrites();

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/rewrites.ipp>
#endif
