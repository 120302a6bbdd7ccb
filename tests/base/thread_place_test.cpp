// Threads that make room for one that computes.
#include <pinion/base/thread_place.hpp>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

namespace {

using pinion::thread_place;

cpu_set_t processors_of(int thread) {
  cpu_set_t all;
  CPU_ZERO(&all);
  CHECK(::sched_getaffinity(thread, sizeof all, &all) == 0);
  return all;
}
bool same(const cpu_set_t& a, const cpu_set_t& b) {
  return CPU_EQUAL(&a, &b);
}

// A thread that settles when it is told to.
class settler {
 public:
  explicit settler(bool on_one_processor = false)
      : thread_([this, on_one_processor] {
          if (on_one_processor) stay();
          name_ = ::gettid();
          for (int did = 0; did >= 0; did = wait_behind(did)) {
            place.settle();
            at_ = thread_place::here();
            ++settled_;
            settled_.notify_all();
          }
        }) {
    settled_.wait(0);
  }
  ~settler() {
    wanted_ = -1;
    wanted_.notify_all();
    thread_.join();
  }
  void settle() {
    const int before = settled_;
    ++wanted_;
    wanted_.notify_all();
    settled_.wait(before);
  }
  int name() const { return name_; }
  int at() const { return at_; }

  thread_place place;

 private:
  static void stay() {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(thread_place::here(), &here);
    CHECK(::sched_setaffinity(0, sizeof here, &here) == 0);
  }
  int wait_behind(int did) {
    wanted_.wait(did);
    return wanted_;
  }

  std::atomic<int> wanted_{0}, settled_{0}, name_{0}, at_{-1};
  std::thread thread_;
};

TEST_CASE("a thread is kept off the processor where it settled until it settles again") {
  settler other;
  const cpu_set_t before = processors_of(other.name());
  if (CPU_COUNT(&before) < 2) return;  // it has nowhere else to go
  const int from = other.at();
  other.place.keep_off(from);
  cpu_set_t kept = before;
  CPU_CLR(from, &kept);
  CHECK(same(processors_of(other.name()), kept));
  other.settle();
  CHECK(same(processors_of(other.name()), before));
  CHECK(other.at() != from);
}

TEST_CASE("a thread that settled elsewhere, or may run nowhere else, stays as it is") {
  settler other, bound(true);
  const cpu_set_t before = processors_of(other.name()), one = processors_of(bound.name());
  other.place.keep_off(other.at() + 1);
  other.place.keep_off(-1);
  CHECK(same(processors_of(other.name()), before));
  bound.place.keep_off(bound.at());
  CHECK(same(processors_of(bound.name()), one));
}

TEST_CASE("a child of fork() leaves the threads of its parent where they are") {
  settler other;
  const cpu_set_t before = processors_of(other.name());
  const pid_t child = ::fork();
  if (child == 0) {
    other.place.keep_off(other.at());
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(same(processors_of(other.name()), before));
}

TEST_CASE("a thread does not keep itself off, nor one that never settled") {
  const cpu_set_t before = processors_of(0);
  thread_place mine, unsettled;
  mine.settle();
  mine.keep_off(thread_place::here());
  unsettled.keep_off(thread_place::here());
  CHECK(same(processors_of(0), before));
}

}  // namespace
