// Memory of simulated GPUs that the host cannot touch outside of launched bodies.
#include <pinion/device/guarded_memory.hpp>

#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace {

using pinion::devices::guard;
using pinion::devices::guarded_memory;

// True if a process like this one ends well with a call.
template <class F>
bool survives(F call) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);  // nobody tells of it
    call();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct one_block {
  explicit one_block(guard by) : memory(by), bytes(static_cast<volatile char*>(memory.allocate(10000))) {}
  ~one_block() { memory.free(const_cast<char*>(bytes)); }
  void touch() const { bytes[9999] = bytes[0]; }

  guarded_memory memory;
  volatile char* const bytes;
};

void expect_guarded(guard by) {
  one_block b(by);
  CHECK(reinterpret_cast<std::uintptr_t>(b.bytes) % 64 == 0);
  CHECK_FALSE(survives([&] { b.touch(); }));
  CHECK(survives([&] {
    const guarded_memory::access here(b.memory);
    const guarded_memory::access again(b.memory);
    b.touch();
  }));
  CHECK(survives([&] {
    const guarded_memory::access here(b.memory);
    one_block made_inside(by);
    { const guarded_memory::access again(b.memory); }
    b.touch();
  }));
  CHECK_FALSE(survives([&] {
    { const guarded_memory::access here(b.memory); }
    b.touch();
  }));
}

TEST_CASE("pages are out of reach while nobody has access") {
  expect_guarded(guard::pages);
}

TEST_CASE("blocks that are made while somebody has access are within reach, and then out of it") {
  guarded_memory memory(guard::pages);
  volatile char* late = nullptr;
  {
    const guarded_memory::access here(memory);
    late = static_cast<volatile char*>(memory.allocate(1));
    late[0] = 1;
  }
  CHECK_FALSE(survives([&] { late[0] = 2; }));
  memory.free(const_cast<char*>(late));
}

TEST_CASE("memory without a guard is in everybody's reach") {
  one_block b(guard::none);
  b.touch();
  CHECK_FALSE(b.memory.is_open_here_alone());
}

TEST_CASE("protection keys keep out threads one by one") {
  if (!guarded_memory::has_keys()) {
    WARN("this machine has no protection keys, so nothing is tested");
    return;
  }
  expect_guarded(guard::keys);
  one_block b(guard::keys);
  CHECK_FALSE(survives([&] {
    std::thread other;
    std::atomic<bool> is_open{false};
    other = std::thread([&] {
      while (!is_open) std::this_thread::yield();
      b.touch();
    });
    const guarded_memory::access here(b.memory);
    is_open = true;
    other.join();
  }));
  const guarded_memory::access here(b.memory);
  CHECK(b.memory.is_open_here_alone());
}

TEST_CASE("keys that are asked for where there are none are refused") {
  if (guarded_memory::has_keys()) return;
  CHECK_THROWS_WITH(guarded_memory(guard::keys), Catch::Contains("no protection key"));
}

}  // namespace
