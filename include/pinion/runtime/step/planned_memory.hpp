// The memory of the values of a step, by plans that are learnt from its runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/step/arena.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Bytes that the arenas of an executable take, for people who ask. Thread-safe.
struct arena_use {
  std::atomic<std::size_t> held{0};    // by the arenas of all runs
  std::atomic<std::size_t> arena{0};   // of the plan that was made last
  std::atomic<std::size_t> live{0};    // of the values that are in use at once, by that plan
  std::atomic<std::size_t> leaves{0};  // of the values that outlive the run, by that plan
};

// Gives one run after the other its memory. A run of feeds with sizes that it has not met is recorded; later runs of
// these sizes take the blocks of an arena that was laid out after the recording. Values that outlive their run are not
// of the arena. It keeps the plans of a few feed sizes, in one memory. Where sizes always change it records ever more
// rarely, and runs take the blocks of the device. Belongs to one run at a time. Its items run in order, or in several
// threads by their dependencies; then each takes its own blocks, see item_memory.
class planned_memory {
 public:
  // `fed` has the feeds that tell the sizes, by their numbers. It and `use` outlive this.
  planned_memory(arena_use& use, const std::vector<int>& fed) : use_(use), fed_(fed) {}
  planned_memory(const planned_memory&) = delete;
  ~planned_memory();

  // Begins a run in order with these feeds and returns the allocator of its values. `device` gives what is not planned.
  allocator& begin(std::span<const any_tensor> feeds, allocator& device);
  // Begins a run whose items run in any order.
  void begin_in_any_order(std::span<const any_tensor> feeds, allocator& device);
  // Ends the run. Requires: the run itself holds no value any more, except those that it yields.
  void end(bool failed);

 private:
  friend class item_memory;

  static constexpr std::size_t most_plans = 4;
  static constexpr std::size_t most_in_any_order = 1024;  // blocks, since each knows its neighbours

  // A plan for feeds of some sizes.
  struct known {
    bool in_order = true;
    std::vector<std::int64_t> feeds;  // their elements
    std::vector<noted_block> noted;   // by item, each item's in the order in which it took them
    memory_plan plan = {};
    std::shared_ptr<arena> blocks = {};  // null: none yet, or not in the present memory
    int failures = 0;                    // runs that did not fit the plan
    bool stale = false;                  // to be recorded anew
    std::int64_t used = 0;               // the run that used it last
  };

  void begin_run(std::span<const any_tensor> feeds, allocator& device, bool in_order);
  void end_run(bool failed);
  // Returns the plan for feeds of just these sizes, and else one for feeds that are nowhere smaller; null: none.
  known* find(std::span<const any_tensor> feeds);
  bool may_record();
  void record(std::span<const any_tensor> feeds);
  void learn(std::vector<noted_block> noted);
  void learn_what_left(known& k);
  // Too many blocks for this count as leaving.
  static void sort_by_item(std::vector<noted_block>& noted);
  // The lives of a plan's blocks; those of blocks that leave are empty.
  static std::vector<block_life> inside(const known& k);
  void lay_out(known& k);
  // Makes the blocks of a plan, and memory where that is too small. Returns false where the system has no memory.
  bool prepare(known& k);
  void drop_memory();

  arena_use& use_;
  const std::vector<int>& fed_;
  allocator* device_ = nullptr;
  bool in_order_ = true;
  std::vector<known> plans_;
  known* current_ = nullptr;  // the plan of this run
  std::shared_ptr<life_recorder> recorder_;
  std::vector<std::int64_t> recorded_feeds_;
  arena_memory memory_;
  std::int64_t run_ = 0, recordings_ = 0, records_again_ = 0;
};

// The allocator of one item of a run in any order.
class item_memory final : public allocator {
 public:
  item_memory(planned_memory& run, int item);
  buffer* allocate(std::size_t bytes, std::string_view holder = {}) override;
  void recycle(buffer*) noexcept override {}  // no block has its home here

 private:
  planned_memory& run_;
  const int item_;
  std::size_t next_ = 0;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/planned_memory.ipp>
#endif
