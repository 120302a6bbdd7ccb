// The time slices that the system's scheduler gives to a thread.
#pragma once

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Asks the system for short time slices of this thread, which hands work over to others and waits for theirs: where
// there are more threads than cores it then runs soon when it has something to do, and one that looks for work and lets
// others run meanwhile runs again soon. It has no more of the core for that. Does nothing where the system does not
// know such slices (Linux before 6.12), or where the program gave the thread another policy.
void take_short_slices();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/time_slice.ipp>
#endif
