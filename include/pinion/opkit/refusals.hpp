// Products and convolutions that NVIDIA's libraries refuse.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

class kernel_context;

// Tells in the log that a library has no kernel for a node with these inputs, and how the GPU computes it then:
// "in tiles". It tells once of a node, by its name, and of 64 nodes at most. Thread-safe.
void tell_refusal(const kernel_context& c, std::string_view library, std::string_view without_library);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/refusals.ipp>
#endif
