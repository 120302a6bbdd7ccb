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
  if (current_ || recorder_) end(true);  // an exception ended the run before
  ++run_;
  known* const k = find(feeds);
  if ((!k || k->stale) && may_record()) return record(feeds);
  if (!k || (!k->blocks && !prepare(*k, device))) return device;
  current_ = k;
  k->used = run_;
  k->blocks->begin();
  return *k->blocks;
}

PINION_DECL void planned_memory::end(bool failed) {
  if (const auto recorder = std::exchange(recorder_, nullptr))
    if (auto noted = recorder->finish(); !failed) learn(std::move(noted));
  known* const k = std::exchange(current_, nullptr);
  if (!k) return;
  if (!k->blocks->all_back())
    learn_what_left(*k);
  else if (k->blocks->misfits() > 0)
    k->stale = std::has_single_bit(static_cast<unsigned>(++k->failures));
}

PINION_DECL planned_memory::known* planned_memory::find(std::span<const any_tensor> feeds) {
  const auto all = [feeds](const known& k, auto compare) {
    return std::equal(feeds.begin(), feeds.end(), k.feeds.begin(), k.feeds.end(),
                      [compare](const any_tensor& fed, std::int64_t n) { return compare(fed.count(), n); });
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

PINION_DECL allocator& planned_memory::record(std::span<const any_tensor> feeds) {
  recorded_feeds_.clear();
  for (const any_tensor& fed : feeds) recorded_feeds_.push_back(fed.count());
  recorder_ = std::make_shared<life_recorder>();
  return *recorder_;
}

PINION_DECL void planned_memory::learn(std::vector<noted_block> noted) {
  auto at = std::find_if(plans_.begin(), plans_.end(), [&](const known& k) { return k.feeds == recorded_feeds_; });
  if (at == plans_.end() && plans_.size() < most_plans) at = plans_.emplace(at);
  if (at == plans_.end())
    at = std::min_element(plans_.begin(), plans_.end(), [](const known& a, const known& b) { return a.used < b.used; });
  const int failures = at->feeds == recorded_feeds_ ? at->failures : 0;
  if (at->blocks) at->blocks->let_go();
  *at = {.feeds = recorded_feeds_, .noted = std::move(noted), .failures = failures, .used = run_};
  lay_out(*at);
}

// Values that were in use at the end of the run get memory of their own in later runs. The arena stays theirs as long
// as they are used.
PINION_DECL void planned_memory::learn_what_left(known& k) {
  for (std::size_t i = 0; i < k.noted.size(); ++i) k.noted[i].leaves |= k.blocks->in_use(i);
  drop_memory();
  lay_out(k);
}

PINION_DECL void planned_memory::lay_out(known& k) {
  std::vector<block_life> inside;  // blocks that leave count as empty
  std::size_t leaving = 0;
  for (const noted_block& n : k.noted) {
    inside.push_back(n.leaves ? block_life{0, n.life.begin, n.life.begin} : n.life);
    if (n.leaves) leaving += n.life.bytes;
  }
  k.plan = plan_memory(inside);
  use_.arena = k.plan.bytes;
  use_.live = k.plan.live;
  use_.leaves = leaving;
}

PINION_DECL bool planned_memory::prepare(known& k, allocator& device) {
  if (memory_.bytes < k.plan.bytes || !memory_.data) {
    drop_memory();
    memory_ = arena_memory::of(k.plan.bytes);
    if (!memory_.data) return false;
    use_.held += memory_.bytes;
  }
  k.blocks = std::make_shared<arena>(k.noted, k.plan, memory_, device);
  return true;
}

PINION_DECL void planned_memory::drop_memory() {
  for (known& k : plans_)
    if (const auto blocks = std::exchange(k.blocks, nullptr)) blocks->let_go();
  use_.held -= memory_.bytes;
  memory_ = {};
}

}}}  // namespace pinion::v0::runtime
