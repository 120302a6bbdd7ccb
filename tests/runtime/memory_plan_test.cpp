// Offsets of blocks in one stretch of memory.
#include <pinion/runtime/step/memory_plan.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <vector>

#include "support/dice.hpp"

namespace {

using namespace pinion;
using runtime::block_life;
using runtime::memory_plan;
using runtime::plan_memory;

std::vector<block_life> random_blocks(pinion_tests::dice& dice, int blocks, std::uint64_t most_bytes, int longest) {
  std::vector<block_life> all;
  for (int i = 0; i < blocks; ++i) {
    const int length = 1 + static_cast<int>(dice(static_cast<std::uint64_t>(longest)));
    all.push_back({dice(most_bytes), i, i + length});
  }
  return all;
}

// The pairs of blocks that are in use at one moment and have a byte in common.
int overlaps(const std::vector<block_life>& blocks, const memory_plan& plan) {
  int found = 0;
  for (std::size_t a = 0; a < blocks.size(); ++a)
    for (std::size_t b = a + 1; b < blocks.size() && blocks[b].begin < blocks[a].end; ++b)
      found += plan.offsets[a] < plan.offsets[b] + blocks[b].bytes &&
               plan.offsets[b] < plan.offsets[a] + blocks[a].bytes && blocks[a].bytes > 0 && blocks[b].bytes > 0;
  return found;
}

bool within(const std::vector<block_life>& blocks, const memory_plan& plan) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (plan.offsets[i] % memory_plan::alignment != 0 || plan.offsets[i] + blocks[i].bytes > plan.bytes) return false;
  return true;
}

TEST_CASE("blocks that live at the same time are apart, and inside of the memory") {
  pinion_tests::dice dice(7);
  for (const int blocks : {0, 1, 2, 10, 100, 400, 1500, 3000})
    for (const int longest : {1, 5, 60}) {
      const auto all = random_blocks(dice, blocks, 5000, longest);
      const memory_plan plan = plan_memory(all);
      CHECK(overlaps(all, plan) == 0);
      CHECK(within(all, plan));
      CHECK(plan.bytes >= plan.live);
    }
}

TEST_CASE("blocks of one size take no more memory than is in use at once, few or many") {
  for (const int blocks : {50, 5000}) {
    std::vector<block_life> all;
    for (int i = 0; i < blocks; ++i) all.push_back({640, i, i + 1 + i % 7});
    const memory_plan plan = plan_memory(all);
    CHECK(plan.bytes == plan.live);
    CHECK(overlaps(all, plan) == 0);
  }
}

TEST_CASE("a block without bytes takes no place") {
  const memory_plan plan = plan_memory(std::vector<block_life>{{100, 0, 4}, {0, 1, 3}, {100, 2, 5}});
  CHECK(plan.bytes == 256);
  CHECK(plan.live == 200);
}

std::set<int> set_of(const runtime::block_lists& lists, std::size_t i) {
  const int* const all = lists.all.data();
  return std::set<int>(all + lists.first[i], all + lists.first[i + 1]);
}

TEST_CASE("neighbours are the blocks that have a byte in common") {
  const std::vector<block_life> all{{100, 0, 1}, {300, 1, 2}, {0, 2, 3}, {128, 2, 3}, {64, 2, 3}};
  memory_plan plan;
  plan.offsets = {0, 64, 64, 384, 320};
  const auto neighbours = neighbours_of(all, plan);
  CHECK(set_of(neighbours, 0) == std::set<int>{1});
  CHECK(set_of(neighbours, 1) == std::set<int>{0, 4});
  CHECK(set_of(neighbours, 2).empty());
  CHECK(set_of(neighbours, 3).empty());
  CHECK(set_of(neighbours, 4) == std::set<int>{1});
}

// Replays the blocks; when one begins, its formers say what was at its place last.
TEST_CASE("where the formers of a block have ended, all earlier blocks at its place have") {
  pinion_tests::dice dice(3);
  for (const int blocks : {10, 300, 2000}) {
    const auto all = random_blocks(dice, blocks, 2000, 30);
    const memory_plan plan = plan_memory(all);
    const auto formers = formers_of(all, plan);
    const int rooms = static_cast<int>(plan.bytes / memory_plan::alignment);
    std::vector<int> last(static_cast<std::size_t>(rooms), -1);
    int wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t from = plan.offsets[i] / memory_plan::alignment;
      const std::size_t to = from + (all[i].bytes + memory_plan::alignment - 1) / memory_plan::alignment;
      std::set<int> expected(last.begin() + static_cast<std::ptrdiff_t>(from),
                             last.begin() + static_cast<std::ptrdiff_t>(to));
      expected.erase(-1);
      wrong += expected != set_of(formers, i);
      std::fill(last.begin() + static_cast<std::ptrdiff_t>(from), last.begin() + static_cast<std::ptrdiff_t>(to),
                static_cast<int>(i));
    }
    CHECK(wrong == 0);
  }
}

// The values of a training step of the MNIST network, batch 50, in the order in which they are made: sizes in floats,
// with the first and the last item that holds them. Activations live until the layer's way back, gradients of weights
// until the updates at the end.
TEST_CASE("the values of an MNIST step take five per cent more than is in use at once, at most") {
  constexpr int layers = 6;
  const std::vector<std::size_t> units{784, 160, 160, 160, 160, 160, 10};
  for (const std::size_t batch : {50, 512}) {
    std::vector<block_life> all;
    const auto add = [&](std::size_t floats, int begin, int end) { all.push_back({4 * floats, begin, end}); };
    const int updates = 4 * layers;
    for (int l = 0; l < layers; ++l) {
      const auto out = units[static_cast<std::size_t>(l) + 1];
      add(batch * out, 2 * l, 2 * l + 1);               // product
      add(batch * out, 2 * l + 1, 4 * layers - 2 * l);  // activation
    }
    for (int l = layers - 1; l >= 0; --l) {
      const auto in = units[static_cast<std::size_t>(l)], out = units[static_cast<std::size_t>(l) + 1];
      const int now = 4 * layers - 2 * l - 2;
      if (l > 0) add(batch * in, now, now + 2);  // gradient of the layer's input
      add(out, now, updates + 2 * l);
      add(in * out, now, updates + 2 * l + 1);
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    const memory_plan plan = plan_memory(all);
    CHECK(overlaps(all, plan) == 0);
    CHECK(static_cast<double>(plan.bytes) <= 1.05 * static_cast<double>(plan.live));
  }
}

}  // namespace
