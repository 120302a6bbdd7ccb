// Objects of which a process has one each, how long they live, and what the child of a fork() may do with its copies.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The one T of this process. The thread that asks first makes it, and others wait until it is made. It is never
// destroyed: threads that are left to themselves, and the destructors of a program's own statics, may use it to the
// last. A type guards its members itself where threads share them.
//
// Everything that pinion keeps for a whole process is found by this name or the next, but for two kinds of things:
// lists that statics of the program join before main() (registered ops and kernels), and what a signal handler touches
// (stop_signals). A test holds the list of all.
template <class T>
T& of_this_process() {
  static T& one = *new T;
  return one;
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

// Deletes what this process made. The child of a fork() leaves its copy as it is: the threads that would have to end
// first are not there, and what is shared with the parent, such as a connection, is the parent's.
struct delete_where_made {
  process_mark made = {};
  template <class T>
  void operator()(T* one) const {
    if (made.is_this()) delete one;
  }
};

// The one T of this process, as above, but the child of a fork() has another, which begins anew: for what stands for
// threads and connections. Making a T has no effect but the T.
template <class T>
T& of_each_process() {
  struct made {
    process_mark in;
    T one;
  };
  static std::atomic<made*> latest{nullptr};
  made* is = latest.load();
  while (!is || !is->in.is_this()) {
    made* const mine = new made;
    if (latest.compare_exchange_strong(is, mine)) return mine->one;
    delete mine;  // another thread was first
  }
  return is->one;
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/process.ipp>
#endif
