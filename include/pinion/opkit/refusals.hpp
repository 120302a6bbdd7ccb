// What NVIDIA's libraries refuse to compute or to compile. All functions are thread-safe.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

class kernel_context;
struct node;

// Notes that a library refuses what a node needs, so that plans say how the GPU computes it then. Returns false where
// that was noted before, and beyond 4096 nodes of the process.
bool note_refusal(const node& n);
// Tells whether it was noted of a node of this name, op and line.
bool is_refused(const node& n);

// Tells on standard error that a library has no kernel for a node with these inputs, and how the GPU computes it then:
// "in tiles". It tells once of a node, and of 64 nodes at most. It also notes it.
void tell_refusal(const kernel_context& c, std::string_view library, std::string_view without_library);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/refusals.ipp>
#endif
