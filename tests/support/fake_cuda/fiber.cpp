// Bodies of fiber.hpp. This file is compiled without the thread sanitizer, which sees switches by the calls below.
#include "fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#ifdef FAKE_CUDA_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FAKE_CUDA_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace fake_cuda {

namespace {

constexpr std::size_t guard_size = 1 << 12, stack_size = 1 << 18;

// Memory for a stack, which comes as it is touched, above a page that nobody may touch.
std::byte* new_stack() {
  void* const memory = mmap(nullptr, guard_size + stack_size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, guard_size, PROT_NONE) != 0) {
    std::perror("the stand-in for CUDA has no memory for the stack of a thread");
    std::abort();
  }
  return static_cast<std::byte*>(memory) + guard_size;
}

}  // namespace

fiber::fiber() : stack_(new_stack()) {
  getcontext(&here_);
  here_.uc_stack.ss_sp = stack_;
  here_.uc_stack.ss_size = stack_size;
  here_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&here_, reinterpret_cast<void (*)()>(&run), 2, static_cast<unsigned>(self),
              static_cast<unsigned>(self >> 32));
#ifdef FAKE_CUDA_THREAD_SANITIZER
  sanitized_ = __tsan_create_fiber(0);
#endif
}

fiber::~fiber() {
#ifdef FAKE_CUDA_THREAD_SANITIZER
  __tsan_destroy_fiber(sanitized_);
#endif
  munmap(stack_ - guard_size, guard_size + stack_size);
}

void fiber::start(void (*work)(void*), void* argument) {
  work_ = work, argument_ = argument;
  resume();
}

void fiber::resume() {
#ifdef FAKE_CUDA_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&owner_fake_stack_, stack_, stack_size);
#endif
#ifdef FAKE_CUDA_THREAD_SANITIZER
  sanitized_owner_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(sanitized_, __tsan_switch_to_fiber_no_sync);
#endif
  swapcontext(&owner_, &here_);
#ifdef FAKE_CUDA_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(owner_fake_stack_, nullptr, nullptr);
#endif
}

void fiber::pause() {
#ifdef FAKE_CUDA_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&fake_stack_, owner_stack_, owner_stack_size_);
#endif
#ifdef FAKE_CUDA_THREAD_SANITIZER
  __tsan_switch_to_fiber(sanitized_owner_, __tsan_switch_to_fiber_no_sync);
#endif
  swapcontext(&here_, &owner_);
  arrive();
}

// What ends a switch to the fiber: it learns which stack its owner has.
void fiber::arrive() {
#ifdef FAKE_CUDA_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fake_stack_, &owner_stack_, &owner_stack_size_);
#endif
}

void fiber::run(unsigned low, unsigned high) {
  auto* const self = reinterpret_cast<fiber*>(std::uintptr_t{high} << 32 | low);
  self->arrive();
  for (;;) {
    self->work_(self->argument_);
    self->work_ = nullptr;
    self->pause();
  }
}

}  // namespace fake_cuda
