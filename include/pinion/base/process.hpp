// Objects of which a process has one each, and how long they live.
#pragma once

namespace pinion { inline namespace v0 {

// The one T of this process. The thread that asks first makes it, and others wait until it is made. It is never
// destroyed: threads that are left to themselves, and the destructors of a program's own statics, may use it to the
// last. A type guards its members itself where threads share them.
//
// Everything that pinion keeps for a whole process is found by this name, but for three kinds of things: lists that
// statics of the program join before main() (registered ops and kernels), what must be destroyed, since it joins a
// thread (head_start), and what a signal handler touches (stop_signals). A test holds the list of all.
template <class T>
T& of_this_process() {
  static T& one = *new T;
  return one;
}

}}  // namespace pinion::v0
