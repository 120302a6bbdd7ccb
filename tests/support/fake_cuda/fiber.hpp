// A stack of its own on which work runs that can pause, for the threads of a block that wait at a barrier.
#pragma once

#ifndef __x86_64__
#include <ucontext.h>
#endif

#include <cstddef>

namespace fake_cuda {

// The registers of work that is switched off.
#ifdef __x86_64__
using registers = void*;  // which stand on its stack
#else
using registers = ucontext_t;
#endif

// One fiber. It belongs to the OS thread that made it, which resumes it; sanitizers are told of each switch. What the
// fibers of an OS thread do is not ordered for the thread sanitizer: those who resume them say what is.
class fiber {
 public:
  fiber();
  fiber(const fiber&) = delete;
  ~fiber();

  // Begins work, and returns when it pauses or has ended. Requires: the fiber is idle.
  void start(void (*work)(void*), void* argument);
  // Goes on with work that pauses, and returns when it pauses again or has ended.
  void resume();
  // Called by the work: returns to who resumed the fiber.
  void pause();
  bool is_idle() const { return work_ == nullptr; }

 private:
  static void run();
  void arrive();

  registers here_, owner_;
  std::byte* stack_;
  void (*work_)(void*) = nullptr;
  void* argument_ = nullptr;

  // Words of the sanitizers: their names of the fiber, of its owner and of the owner's stack.
  [[maybe_unused]] void *sanitized_ = nullptr, *sanitized_owner_ = nullptr;
  [[maybe_unused]] void *fake_stack_ = nullptr, *owner_fake_stack_ = nullptr;
  [[maybe_unused]] const void* owner_stack_ = nullptr;
  [[maybe_unused]] std::size_t owner_stack_size_ = 0;
};

}  // namespace fake_cuda
