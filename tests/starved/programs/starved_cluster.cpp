// A cluster of two tasks in a process of which one allocation fails: that which the file says, which is shared with the
// test that starts it. Prints the targets of its ps and its worker, and serves until it is killed.
//
//   starved_cluster <file>
//
// Prints on standard error where the allocation was that failed, if the process ends of it; with
// PINION_STARVED_TRACE=1, of each that fails.
#include <pinion/distributed.hpp>

#include <execinfo.h>
#include <malloc.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include <starved/starvation.hpp>

namespace {

std::atomic<starvation*> hunger{nullptr};
bool traces = false;

// The functions that this thread is in, the innermost first.
struct call_stack {
  void* calls[60];
  int depth = 0;

  void take() { depth = ::backtrace(calls, 60); }
  void print(const char* what) const {
    std::fprintf(stderr, "%s\n", what);
    ::backtrace_symbols_fd(calls, depth, 2);
  }
};
call_stack starved;  // of the allocation that failed last

void tell_where_it_ends() {
  call_stack here;
  here.take();
  here.print("ends at");
  starved.print("starved at");
}

// Does this allocation fail?
bool fails() noexcept {
  starvation* const s = hunger.load(std::memory_order_relaxed);
  if (!s) return false;
  s->taken.fetch_add(1, std::memory_order_relaxed);
  if (s->until.load(std::memory_order_relaxed) <= 0 || s->until.fetch_sub(1, std::memory_order_relaxed) != 1)
    return false;
  s->failed.fetch_add(1, std::memory_order_relaxed);
  starved.take();
  if (traces) starved.print("starved at");
  return true;
}
void* taken(std::size_t n) noexcept {
  return fails() ? nullptr : std::malloc(n ? n : 1);
}
void* taken(std::size_t n, std::align_val_t align) noexcept {
  void* p = nullptr;
  return fails() || ::posix_memalign(&p, static_cast<std::size_t>(align), n ? n : 1) != 0 ? nullptr : p;
}
void* or_throw(void* p) {
  return p ? p : throw std::bad_alloc();
}
// Not inlined, since a compiler that sees malloc and delete together warns of the mismatch.
[[gnu::noinline]] void returned(void* p) noexcept {
  std::free(p);
}

}  // namespace

void* operator new(std::size_t n) {
  return or_throw(taken(n));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return taken(n);
}
void* operator new(std::size_t n, std::align_val_t align) {
  return or_throw(taken(n, align));
}
void* operator new(std::size_t n, std::align_val_t align, const std::nothrow_t&) noexcept {
  return taken(n, align);
}
void operator delete(void* p) noexcept {
  returned(p);
}
void operator delete(void* p, std::size_t) noexcept {
  returned(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  returned(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  returned(p);
}

int main(int count, char** arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (count != 2) return 2;
  traces = std::getenv("PINION_STARVED_TRACE") != nullptr;
  std::signal(SIGSEGV, [](int) { tell_where_it_ends(), std::_Exit(3); });
  std::set_terminate([] { tell_where_it_ends(), std::abort(); });
  pinion::local_cluster tasks({{"ps", 1}, {"worker", 1}},
                              {.inter_op_threads = 2, .intra_op_threads = 1, .credit = 4096});
  call_stack().take();  // which allocates when it is first called
  hunger = &starvation::in(arguments[1]);
  std::printf("%s\n%s\n", tasks.target("ps", 0).c_str(), tasks.target("worker", 0).c_str());
  std::fflush(stdout);
  for (;;) ::pause();
}
