// Bodies of fiber.hpp. This file is compiled without the thread sanitizer, which sees switches by the calls below.
#include "fiber.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef FAKE_CUDA_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FAKE_CUDA_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

#ifdef __x86_64__
// What swapcontext does, without a call of the system for each switch: saves the registers that a function keeps, and
// their place, and restores others.
extern "C" void fake_cuda_change(void** from, void* to);
asm(R"(
  .text
  .type fake_cuda_change, @function
fake_cuda_change:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size fake_cuda_change, .-fake_cuda_change
)");
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

#ifdef __x86_64__

// The stack of work that has not begun: the registers that are restored, `run`, and the place to which it never
// returns.
registers before(void (*run)(), std::byte* stack) {
  auto* const top = reinterpret_cast<void**>(stack + stack_size);
  std::fill_n(top - 8, 8, nullptr);
  std::memcpy(top - 2, &run, sizeof run);
  return top - 8;
}

void change(registers& from, registers& to) {
  fake_cuda_change(&from, to);
}

#else

registers before(void (*run)(), std::byte* stack) {
  registers all;
  getcontext(&all);
  all.uc_stack.ss_sp = stack;
  all.uc_stack.ss_size = stack_size;
  all.uc_link = nullptr;
  makecontext(&all, run, 0);
  return all;
}

void change(registers& from, registers& to) {
  swapcontext(&from, &to);
}

#endif

thread_local fiber* resumed = nullptr;  // by the calling OS thread at last

}  // namespace

fiber::fiber() : stack_(new_stack()) {
  here_ = before(run, stack_);
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
  resumed = this;
  change(owner_, here_);
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
  change(here_, owner_);
  arrive();
}

// What ends a switch to the fiber: it learns which stack its owner has.
void fiber::arrive() {
#ifdef FAKE_CUDA_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fake_stack_, &owner_stack_, &owner_stack_size_);
#endif
}

void fiber::run() {
  fiber* const self = resumed;
  self->arrive();
  for (;;) {
    self->work_(self->argument_);
    self->work_ = nullptr;
    self->pause();
  }
}

}  // namespace fake_cuda
