// The turns of a thread at its core.
#pragma once

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Asks the system for short turns of this thread, since it hands work over to others and waits for theirs: where there
// are more threads than cores it then runs soon when it has something to do, and one that looks for work and lets
// others run meanwhile has its turn again soon. It has no more of the core for that. Does nothing where the system does
// not know such turns (Linux before 6.12), or where the program gave the thread another policy.
void take_short_turns();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/short_turns.ipp>
#endif
