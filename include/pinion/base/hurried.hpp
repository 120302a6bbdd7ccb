// Code in a thread that has others to serve.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// While it lives, its thread must not compute for long: whoever has work there that takes longer than some microseconds
// puts it by, and the owner of this object has another thread do it. For one thread.
class hurried {
 public:
  using work = std::function<void()>;

  hurried(const hurried&) = delete;

  // Calls a function in a hurry. Returns the work that it put by, in order.
  template <class Function>
  static std::vector<work> run(Function what) {
    hurried here;
    what();
    return std::move(here.put_by_);
  }
  // Returns the innermost one of the calling thread; null: that may compute.
  static hurried* of_this_thread();

  void put_by(work what) { put_by_.push_back(std::move(what)); }

 private:
  hurried();
  ~hurried();

  hurried* const outer_;
  std::vector<work> put_by_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/hurried.ipp>
#endif
