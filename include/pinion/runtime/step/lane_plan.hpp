// The order in which several threads run the items of a partition, none of which waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/step/executable.hpp>
#include <pinion/runtime/step/ready_board.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Which items wait for which, and which are urgent. Immutable once made, and shared by the runs that use it.
//
// Invariants
//   1. An edge leads from an earlier item to a later one, so the items can also run in order.
//   2. Items that use the same state and of which one writes it are in the order of the partition: what a step reads
//      and leaves behind does not depend on its threads.
//   3. An item that writes a variable waits for the items that hold the value read before, so that it writes in place.
struct lane_plan {
  // `seconds` has a time for each item.
  lane_plan(const executable& e, std::span<const double> seconds);

  // The time that this many threads take, if each free one begins the most urgent item that is ready. Brief items count
  // as if one thread ran them all, since handing them over costs what it saves.
  double time_on(int threads) const;

  // An item that takes no longer than it costs to hand it to another thread.
  bool brief(int item) const { return seconds[static_cast<std::size_t>(item)] < 2e-6; }
  std::span<const int> successors(int item) const {
    const auto i = static_cast<std::size_t>(item);
    return std::span(after).subspan(static_cast<std::size_t>(first_after[i]),
                                    static_cast<std::size_t>(first_after[i + 1] - first_after[i]));
  }

  std::vector<double> seconds;    // per item
  std::vector<int> predecessors;  // per item: their number
  std::vector<int> first_after;   // per item: where its successors begin in `after`
  std::vector<int> after;         // items, listed once per edge
  std::vector<int> place;         // per item: its place on the board; the most urgent has place 0
  std::vector<int> item_at;       // per place

 private:
  using edges = std::vector<std::pair<int, int>>;
  void lay_out(const executable& e, const edges& more);
  void rank();
};

// The state of one run by a plan, besides the memory of every run. Used by one run at a time.
struct lane_memory {
  std::shared_ptr<const lane_plan> plan;
  ready_board board;
  std::vector<int> next;     // per item: the next one on the list of a thread
  std::atomic<int> left{0};  // items that have not ended

  explicit lane_memory(std::shared_ptr<const lane_plan> p)
      : plan(std::move(p)), board(plan->place.size()), next(plan->place.size()) {}
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/lane_plan.ipp>
#endif
