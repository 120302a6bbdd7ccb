// Threads that take short time slices at their cores.
#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <thread>

#include <pinion/base/time_slice.hpp>

namespace {

using namespace pinion;

// The time slice of this thread in nanoseconds, as the system tells; 0 where it knows none.
std::uint64_t slice_here() {
  std::array<std::uint64_t, 7> told{};  // size and policy, flags, niceness and priority, runtime, …
  constexpr std::size_t runtime = 3, first_version = 48;
  return ::syscall(SYS_sched_getattr, 0, told.data(), first_version, 0) == 0 ? told[runtime] : 0;
}

TEST_CASE("a thread that takes short time slices has shorter ones than others, and is as nice as before") {
  std::uint64_t before = 0, after = 0;
  int nice = 0;
  std::thread([&] {
    const auto self = static_cast<id_t>(::syscall(SYS_gettid));
    ::setpriority(PRIO_PROCESS, self, 7);
    before = slice_here();
    take_short_slices();
    after = slice_here();
    nice = ::getpriority(PRIO_PROCESS, self);
  }).join();
  CHECK(nice == 7);
  if (before == 0) return;  // an older system, which has no such slices
  CHECK(after == 100'000);
  CHECK(after < before);
  CHECK(slice_here() == before);
}

}  // namespace
