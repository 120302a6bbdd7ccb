// Runs one executable once in several threads: the caller, and threads of a pool that have nothing else to do.
//
// Each thread has a lane: it goes on with the most urgent of the items that its last one made ready. It puts the others
// on a board, where the threads that run out of work take the most urgent first.
//
// Invariants
//   1. An item runs when all its predecessors in the plan are done, and its inputs are dropped before its successors
//      may run.
//   2. After the first failure no kernel is started, and the run ends when every item is accounted for.
//   3. No thread waits for another while an item is ready. The caller can run every item alone, so that threads which
//      come late or never do not hold it up.
#pragma once

#include <optional>
#include <span>

#include <pinion/base/config.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/runtime/step/item_runner.hpp>
#include <pinion/runtime/step/lane_plan.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// One run. It lives on the stack of its caller, and allocates nothing. Requires: no item waits.
class lane_run final : item_runner, joint_work {
 public:
  // At most `helpers` threads of the pool join the caller.
  lane_run(const executable& e, run_memory& memory, lane_memory& lanes, task_services& services, step_state& step,
           thread_pool& pool, int helpers);

  // Runs all items, and returns when they have ended.
  void run();

 private:
  // The items that one thread has made ready and keeps.
  struct lane {
    kernel_context context;
    const node* last = nullptr;  // that ran
    int next = none;             // the item that it goes on with
    int briefs = none;           // a list of brief items, which come first
    int count = 0;               // the length of that list
    int ended = 0;               // items that have ended and are not yet taken off those that are left
  };
  static constexpr int none = -1;
  static constexpr int most_briefs = 8;  // others can be had by threads without work

  bool calls_for_help() const override { return l_.board.any(); }
  bool help() override { return work(false); }

  void begin();
  // Runs items until none is ready; false where there was none. The caller of the run leads.
  bool work(bool leads);
  void run_in(lane& mine, int item);
  void complete(lane& mine, int item);
  void keep_or_offer(lane& mine, int item);
  void offer(int item);
  int next_of(lane& mine);
  // Takes the ended items of a lane off those that are left.
  void account_for(lane& mine);

  lane_memory& l_;
  const lane_plan& plan_;
  thread_pool& pool_;
  // Begins with the first item that is not brief, so that the items before it, and with them the longest way through
  // the step, stay in the caller's thread from run to run.
  std::optional<thread_pool::shown_work> shown_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/lane_run.ipp>
#endif
