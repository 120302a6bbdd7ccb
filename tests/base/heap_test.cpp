// Memory that is free goes back to the system.
#include <catch2/catch.hpp>

#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include <pinion/base/heap.hpp>

#include <support/resident.hpp>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

using namespace pinion;

// Many small blocks of different sizes, as a graph is, and a large one among them.
std::vector<std::unique_ptr<char[]>> as_a_graph() {
  std::vector<std::unique_ptr<char[]>> all;
  for (std::size_t i = 0; i < 250'000; ++i) {
    const std::size_t bytes = 40 + i * 7919 % 400;
    all.push_back(std::make_unique<char[]>(bytes));
  }
  all.push_back(std::make_unique<char[]>(30 << 20));
  return all;
}

TEST_CASE("what a thread made and another has freed goes back, the end of its heap, too, after the thread is gone") {
  give_heap_back();
  const double before = resident_mib();
  for (int i = 0; i < 3; ++i) {
    std::vector<std::unique_ptr<char[]>> made;
    std::thread([&] {
      mark_heap();
      made = as_a_graph();
    }).join();
    CHECK(resident_mib() > before + 60);
  }
  give_heap_back();
  CHECK(resident_mib() < before + 6);
}

TEST_CASE("of each of many heaps the whole end goes back, though it is short, while their threads go on") {
  constexpr int threads = 6;
  std::barrier<> together(threads + 1);
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      mark_heap();
      together.arrive_and_wait();
      together.arrive_and_wait();
      {
        std::vector<std::unique_ptr<char[]>> made;
        for (int block = 0; block < 1000; ++block) made.emplace_back(new char[1000]());
      }
      together.arrive_and_wait();
      together.arrive_and_wait();
    });
  together.arrive_and_wait();
  give_heap_back();
  const double before = resident_mib();
  together.arrive_and_wait();
  together.arrive_and_wait();
  CHECK(resident_mib() > before + 4);
  give_heap_back();
  CHECK(resident_mib() < before + 0.4);
  together.arrive_and_wait();
  for (auto& t : all) t.join();
}

}  // namespace

#endif
