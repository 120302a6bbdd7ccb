// What a process has one of, while it is made.
#if !defined(__SANITIZE_THREAD__)  // which starts no threads in a process forked off one with threads
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <pinion/base/process.hpp>

#include <support/in_child.hpp>

namespace {

std::atomic<bool> begun{false};

struct slow_to_make {
  slow_to_make() {
    begun = true;
    begun.notify_all();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (std::chrono::steady_clock::now() < until) continue;
    is_made = true;
  }
  bool is_made = false;
};

}  // namespace

TEST_CASE("a process that is forked while another thread makes what it has one of, has it made") {
  std::thread maker([] { pinion::of_this_process<slow_to_make>(); });
  begun.wait(false);
  CHECK(in_child([] { return std::string(pinion::of_this_process<slow_to_make>().is_made ? "made" : "not made"); }) ==
        "made");
  maker.join();
}

TEST_CASE("a table is made once, for all who ask at the same time") {
  static std::atomic<int> made{0};
  const auto ask = [] {
    return &pinion::table_of_this_process([] { return std::string("table ") + char('0' + ++made); });
  };
  std::vector<const std::string*> seen(4);
  {
    std::vector<std::jthread> threads;
    for (auto& one : seen) threads.emplace_back([&] { one = ask(); });
  }
  CHECK(made == 1);
  for (const std::string* one : seen) CHECK(one == seen[0]);
}
#endif
