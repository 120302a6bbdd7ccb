// Objects that are of one process, and not of the child of a fork().
#pragma once

#include <atomic>

#include <pinion/base/config.hpp>
#include <pinion/base/process.hpp>

namespace pinion { inline namespace v0 {

// The one T of this process, as of_this_process() has it, but the child of a fork() has another, which begins anew: for
// what stands for threads and connections. Making a T has no effect but the T.
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

// Deletes what this process made. The child of a fork() leaves its copy as it is: the threads that would have to end
// first are not there, and what is shared with the parent, such as a connection, is the parent's.
struct delete_where_made {
  process_mark made = {};
  template <class T>
  void operator()(T* one) const {
    if (made.is_this()) delete one;
  }
};

}}  // namespace pinion::v0
