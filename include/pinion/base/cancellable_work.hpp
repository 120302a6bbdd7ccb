// Long work that can be cancelled while it is done.
#pragma once

#include <pinion/base/cancellation.hpp>
#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Puts the work of this thread under a cancellation while it exists, so that loops far below find it, without an
// argument of every function between. These nest, and each of them counts. Refers to the cancellation; used by its
// thread alone.
class cancellable_work {
 public:
  explicit cancellable_work(const cancellation& by);
  cancellable_work(const cancellable_work&) = delete;
  ~cancellable_work();

  // Throws cancelled if this thread's work is. Loops over the nodes of a graph call it for each; it costs a nanosecond.
  static void check();

  // The work that this thread does; null: none of it can be cancelled. Other threads that help with it look at it, too,
  // as long as this one waits for them.
  static const cancellable_work* of_this_thread();
  bool cancelled() const;
  // Throws cancelled if it is.
  void expect_wanted() const;

 private:
  const cancellation& by_;
  cancellable_work* const outer_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/cancellable_work.ipp>
#endif
