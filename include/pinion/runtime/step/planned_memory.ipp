// Bodies of <pinion/runtime/step/planned_memory.hpp>.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include <pinion/runtime/step/planned_memory.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL planned_memory::~planned_memory() {
  drop_memory();
}

PINION_DECL allocator& planned_memory::begin(std::span<const any_tensor> feeds, allocator& device) {
  begin_run(feeds, device, true);
  if (recorder_) return *recorder_;
  return current_ ? *current_->blocks : device;
}

PINION_DECL void planned_memory::begin_in_any_order(std::span<const any_tensor> feeds, allocator& device) {
  begin_run(feeds, device, false);
}

PINION_DECL void planned_memory::begin_run(std::span<const any_tensor> feeds, allocator& device, bool in_order) {
  if (current_ || recorder_) end(true);  // an exception ended the run before
  ++run_;
  device_ = &device;
  in_order_ = in_order;
  known* const k = find(feeds);
  if ((!k || k->stale) && may_record()) return record(feeds);
  if (!k || (!k->blocks && !prepare(*k))) return;
  current_ = k;
  k->used = run_;
  k->blocks->begin();
}

PINION_DECL void planned_memory::end(bool failed) {
  try {
    end_run(failed);
  } catch (const std::bad_alloc&) {  // a plan may be of other blocks than were noted last
    drop_memory();
    plans_.clear();
  }
}

PINION_DECL void planned_memory::end_run(bool failed) {
  known* const k = std::exchange(current_, nullptr);
  if (const auto recorder = std::exchange(recorder_, nullptr))
    if (auto noted = recorder->finish(); !failed) learn(std::move(noted));
  if (!k) return;
  if (!k->blocks->all_back())
    learn_what_left(*k);
  else if (k->blocks->misfits())
    k->stale = std::has_single_bit(static_cast<unsigned>(++k->failures));
}

PINION_DECL planned_memory::known* planned_memory::find(std::span<const any_tensor> feeds) {
  const auto all = [&](const known& k, auto compare) {
    return k.in_order == in_order_ &&
           std::equal(fed_.begin(), fed_.end(), k.feeds.begin(), k.feeds.end(), [&](int fed, std::int64_t n) {
             return compare(feeds[static_cast<std::size_t>(fed)].count(), n);
           });
  };
  for (known& k : plans_)
    if (all(k, std::equal_to<>())) return &k;
  if (run_ < records_again_)
    for (known& k : plans_)
      if (all(k, std::less_equal<>())) return &k;
  return nullptr;
}

PINION_DECL bool planned_memory::may_record() {
  if (run_ < records_again_) return false;
  const std::int64_t beyond = ++recordings_ - static_cast<std::int64_t>(most_plans);
  if (beyond >= 0) records_again_ = run_ + (std::int64_t{1} << std::min<std::int64_t>(beyond, 16));
  return true;
}

PINION_DECL void planned_memory::record(std::span<const any_tensor> feeds) {
  recorded_feeds_.clear();
  for (const int fed : fed_) recorded_feeds_.push_back(feeds[static_cast<std::size_t>(fed)].count());
  drop_memory();  // a recorded run has memory of its own, and the two together would be twice as much
  recorder_ = std::make_shared<life_recorder>(*device_);
}

PINION_DECL void planned_memory::learn(std::vector<noted_block> noted) {
  const auto is_same = [this](const known& k) { return k.in_order == in_order_ && k.feeds == recorded_feeds_; };
  auto at = std::find_if(plans_.begin(), plans_.end(), is_same);
  if (at == plans_.end() && plans_.size() < most_plans) at = plans_.emplace(at);
  if (at == plans_.end())
    at = std::min_element(plans_.begin(), plans_.end(), [](const known& a, const known& b) { return a.used < b.used; });
  const int failures = is_same(*at) ? at->failures : 0;
  if (at->blocks) at->blocks->let_go();
  if (!in_order_) sort_by_item(noted);
  *at = {
      .in_order = in_order_, .feeds = recorded_feeds_, .noted = std::move(noted), .failures = failures, .used = run_};
  lay_out(*at);
}

PINION_DECL void planned_memory::sort_by_item(std::vector<noted_block>& noted) {
  std::stable_sort(noted.begin(), noted.end(), [](const auto& a, const auto& b) { return a.item < b.item; });
  if (noted.size() > most_in_any_order)
    for (noted_block& n : noted) n.leaves = true;
}

// Values that were in use at the end of the run get memory of their own in later runs. The arena stays theirs as long
// as they are used.
PINION_DECL void planned_memory::learn_what_left(known& k) {
  for (std::size_t i = 0; i < k.noted.size(); ++i) k.noted[i].leaves |= k.blocks->in_use(i);
  drop_memory();
  lay_out(k);
}

PINION_DECL std::vector<block_life> planned_memory::inside(const known& k) {
  std::vector<block_life> all;
  for (const noted_block& n : k.noted) all.push_back(n.leaves ? block_life{0, n.life.begin, n.life.begin} : n.life);
  return all;
}

PINION_DECL void planned_memory::lay_out(known& k) {
  k.plan = plan_memory(inside(k));
  std::size_t leaving = 0;
  for (const noted_block& n : k.noted) leaving += n.leaves ? n.life.bytes : 0;
  use_.arena = k.plan.bytes;
  use_.live = k.plan.live;
  use_.leaves = leaving;
}

PINION_DECL bool planned_memory::prepare(known& k) {
  if (memory_.bytes < k.plan.bytes || !memory_.data) {
    drop_memory();
    memory_ = arena_memory::of(k.plan.bytes);
    if (!memory_.data) return false;
    use_.held += memory_.bytes;
  }
  const auto lives = inside(k);
  k.blocks = std::make_shared<arena>(
      k.noted, k.plan, k.in_order ? formers_of(lives, k.plan) : neighbours_of(lives, k.plan), memory_, *device_);
  return true;
}

PINION_DECL void planned_memory::drop_memory() {
  for (known& k : plans_)
    if (const auto blocks = std::exchange(k.blocks, nullptr)) blocks->let_go();
  use_.held -= memory_.bytes;
  memory_ = {};
}

PINION_DECL item_memory::item_memory(planned_memory& run, int item) : run_(run), item_(item) {
  if (!run_.current_) return;
  const auto& noted = run_.current_->noted;
  const auto before = [](const noted_block& n, int i) { return n.item < i; };
  next_ = static_cast<std::size_t>(std::lower_bound(noted.begin(), noted.end(), item, before) - noted.begin());
}

PINION_DECL buffer* item_memory::allocate(std::size_t bytes, std::string_view) {
  if (run_.recorder_) return run_.recorder_->note(bytes, item_);
  const planned_memory::known* const k = run_.current_;
  if (!k || next_ == k->noted.size() || k->noted[next_].item != item_) return run_.device_->allocate(bytes);
  return k->blocks->claim(next_++, bytes);
}

}}}  // namespace pinion::v0::runtime
