// The state of a thread in which libraries of products may be called.
#pragma once

#include <pinion/base/calls_until_exit.hpp>
#include <pinion/base/config.hpp>
#include <pinion/base/without_signals.hpp>

#if PINION_HAS_GOMP
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int);
#endif

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// Makes a library run single-threaded while it lives, since a pool of its own would compete with ours. OpenMP's setting
// belongs to the calling thread, which may be the user's, so the destructor restores it.
class one_openmp_thread {
#if PINION_HAS_GOMP
 public:
  one_openmp_thread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~one_openmp_thread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }

 private:
  int before_;
#else
 public:
  one_openmp_thread() {}
#endif
};

#if PINION_HAS_ONEDNN
// The state of a thread in which oneDNN may be called. In its versions of before March 2026 the stack pointer points
// into the heap while a product is computed, so the frame of a signal would overwrite what lies there (oneDNN's issue
// 4845). The end of the process waits for it.
struct onednn_thread {
  const library_call<onednn_thread> until_exit = {};
  const one_openmp_thread alone = {};
  const without_signals quiet = {};
};
#endif

}}}}  // namespace pinion::v0::op::detail
