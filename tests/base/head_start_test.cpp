// Work that is begun ahead: in a thread of its own, once, and never left behind.
#include <pinion/base/head_start.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <future>
#include <stdexcept>

namespace {

using pinion::head_start;

// The processor is busy for a while, so that what does not wait would be seen not to.
void compute() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < until) continue;
}

std::promise<void> may_end;
std::atomic<int> ran_held{0};
void held() {
  may_end.get_future().wait();
  ++ran_held;
}
TEST_CASE("begin returns while the work runs, and a second one begins nothing") {
  CHECK_FALSE(head_start<held>::begun());
  std::thread beginner([] {
    head_start<held>::begin();
    head_start<held>::begin();
    CHECK(ran_held == 0);
    may_end.set_value();
  });
  beginner.join();
  CHECK(head_start<held>::begun());
  CHECK(ran_held == 1);
}

std::atomic<bool> ended_slow{false};
void slow() {
  compute();
  ended_slow = true;
}
TEST_CASE("the thread that began the work does not end before it") {
  std::thread(head_start<slow>::begin).join();
  CHECK(ended_slow);
}

std::atomic<bool> ended_before_fork{false};
void before_fork() {
  compute();
  ended_before_fork = true;
}
TEST_CASE("a process that is forked meanwhile finds the work done") {
  head_start<before_fork>::begin();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(ended_before_fork ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

std::atomic<bool> exiting{false};
void outlast() {
  exiting.wait(false);
  compute();
}
TEST_CASE("exit and the thread that began the work may both wait for it") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    std::promise<void> begun;
    std::thread([&] {
      head_start<outlast>::begin();
      begun.set_value();
    }).detach();
    begun.get_future().wait();
    std::atexit([] {
      exiting = true;
      exiting.notify_one();
    });
    std::exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

void refuse() {
  throw std::runtime_error("no");
}
TEST_CASE("what the work throws is dropped") {
  std::thread(head_start<refuse>::begin).join();
  CHECK(head_start<refuse>::begun());
}

}  // namespace
