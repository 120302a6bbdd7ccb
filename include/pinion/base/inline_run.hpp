// Code in a thread that has others to serve.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// While it lives, its thread must not compute for long: whoever has work there that takes longer than some microseconds
// puts it by, and the owner of this object has another thread do it. For one thread.
class inline_run {
 public:
  using work = std::function<void()>;

  inline_run(const inline_run&) = delete;

  // Calls a function in an inline run. Returns the work that it put by, in order.
  template <class Function>
  static std::vector<work> run(Function what) {
    inline_run here;
    what();
    return std::move(here.put_by_);
  }
  // Returns the innermost one of the calling thread; null: that may compute.
  static inline_run* of_this_thread();

  void put_by(work what) { put_by_.push_back(std::move(what)); }

 private:
  inline_run();
  ~inline_run();

  inline_run* const outer_;
  std::vector<work> put_by_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/inline_run.ipp>
#endif
