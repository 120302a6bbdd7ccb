// Objects of which a process has one each, how long they live, and what the child of a fork() may do with its copies.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

namespace detail {
// The calling thread makes something for the whole process. A fork() in another thread waits until it has, for a second
// at most, since the child would have no thread to finish it.
struct being_made {
  being_made();
  ~being_made();
};
template <class Made, class Make>
Made& made_once(const Make& make) {
  static std::atomic<Made*> made{nullptr};
  if (Made* const is = made.load(std::memory_order_acquire)) return *is;
  const being_made here;
  static Made& one = *make();
  made.store(&one, std::memory_order_release);
  return one;
}
}  // namespace detail

// The one T of this process. The thread that asks first makes it, and others wait until it is made. It is never
// destroyed: threads that are left to themselves, and the destructors of a program's own statics, may use it to the
// last. A type guards its members itself where threads share them.
//
// Everything that pinion keeps for a whole process is found by this name or the next, but for two kinds of things:
// lists that statics of the program join before main() (registered ops and kernels), and what a signal handler touches
// (stop_signals). A test holds the list of all.
template <class T>
T& of_this_process() {
  return detail::made_once<T>([] { return new T; });
}
// A table that a function makes, one for each type of function: that of the first call, for all calls. It lives as long
// as the objects above.
template <class Make>
const std::invoke_result_t<Make>& table_of_this_process(const Make& make) {
  using table = const std::invoke_result_t<Make>;
  return detail::made_once<table>([&] { return new table(make()); });
}

// The process in which this object was made, or that of which it is a copy. The child of a fork() has copies of its
// parent's objects, and none of the threads and connections behind them. A value; a question costs two loads.
// Thread-safe.
class process_mark {
 public:
  process_mark() : forks_(forks()) {}
  bool is_this() const { return forks_ == forks(); }
  // Throws failed_precondition in another process: "<what> was made before fork(), ...".
  void expect(const std::string& what) const;

 private:
  // How many calls of fork() lie between this process and the one in which this was asked first.
  static std::uint64_t forks();

  std::uint64_t forks_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/process.ipp>
#endif
