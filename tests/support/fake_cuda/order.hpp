// The order that CUDA gives to what happens on streams and on the host, as the thread sanitizer is told. The stand-in
// is compiled without that sanitizer and hides its own locks, which would order more than CUDA does: a wait that a
// program forgets is then a race in every run. Without the sanitizer all of this is nothing.
#pragma once

#include <mutex>

#ifdef FAKE_CUDA_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
extern "C" void AnnotateIgnoreSyncBegin(const char* file, int line);
extern "C" void AnnotateIgnoreSyncEnd(const char* file, int line);
#endif

namespace fake_cuda {

#ifdef FAKE_CUDA_THREAD_SANITIZER

inline thread_local int unseen_depth = 0;

inline void hide() {
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}
inline void show() {
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

// While it lives, locks that the calling thread takes order nothing.
class unseen {
 public:
  unseen() {
    if (unseen_depth++ == 0) hide();
  }
  ~unseen() {
    if (--unseen_depth == 0) show();
  }
  unseen(const unseen&) = delete;
};

// What the calling thread has done is before what others do behind come_after() for the same address.
inline void leave_for(void* others) {
  if (unseen_depth > 0) show();
  __tsan_release(others);
  if (unseen_depth > 0) hide();
}
inline void come_after(void* others) {
  if (unseen_depth > 0) show();
  __tsan_acquire(others);
  if (unseen_depth > 0) hide();
}

#else

class unseen {
 public:
  unseen() {}
  unseen(const unseen&) = delete;
};
inline void leave_for(void*) {}
inline void come_after(void*) {}

#endif

// A lock that orders nothing but the stand-in's own data.
class own_lock : unseen, public std::unique_lock<std::mutex> {
 public:
  explicit own_lock(std::mutex& mutex) : std::unique_lock<std::mutex>(mutex) {}
};

}  // namespace fake_cuda
