// Bodies of <pinion/runtime/step/lane_run.hpp>.
#pragma once

#include <chrono>
#include <utility>

#include <pinion/runtime/step/lane_run.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL lane_run::lane_run(const executable& e, run_memory& memory, lane_memory& lanes, task_services& services,
                               step_state& step, thread_pool& pool, int helpers)
    : item_runner(e, memory, services, step), joint_work(helpers), l_(lanes), plan_(*lanes.plan), pool_(pool) {}

PINION_DECL void lane_run::run() {
  begin();
  while (l_.left.load() > 0)
    if (!work(true)) pool_.help_until([this] { return l_.left.load() == 0 || l_.board.any(); });
  shown_.reset();
  clear();
  tell_lives();
  m_.values.end(step_.failed());
}

PINION_DECL void lane_run::begin() {
  prepare_memory();
  m_.values.begin_in_any_order(step_.feeds, e_.device->memory());
  l_.left.store(static_cast<int>(e_.items.size()), std::memory_order_relaxed);
  for (std::size_t i = 0; i < e_.items.size(); ++i) {
    m_.pending[i].store(plan_.predecessors[i], std::memory_order_relaxed);
    if (plan_.predecessors[i] == 0) l_.board.put(plan_.place[i]);
  }
}

PINION_DECL bool lane_run::work(bool leads) {
  const int first = l_.board.take();
  if (first == none) return false;
  lane mine{.context = context()};
  for (int item = plan_.item_at[static_cast<std::size_t>(first)]; item != none; item = next_of(mine)) {
    if (leads && !shown_ && !plan_.brief(item)) shown_.emplace(pool_, static_cast<joint_work&>(*this));
    run_in(mine, item);
    complete(mine, item);
  }
  return true;
}

PINION_DECL void lane_run::run_in(lane& mine, int i) {
  step_.check_deadline(mine.last);
  if (step_.failed()) return;
  const auto& it = e_.items[static_cast<std::size_t>(i)];
  mine.last = it.node;
  const auto inputs = take_inputs(it);
  item_memory own(m_.values, i);
  mine.context.memory = &own;
  run_item(it, mine.context, inputs);
  drop(inputs);
}

PINION_DECL void lane_run::complete(lane& mine, int i) {
  for (const int next : plan_.successors(i))
    if (plan_.predecessors[static_cast<std::size_t>(next)] == 1 ||
        m_.pending[static_cast<std::size_t>(next)].fetch_sub(1, std::memory_order_acq_rel) == 1)
      keep_or_offer(mine, next);
  ++mine.ended;
}

PINION_DECL void lane_run::keep_or_offer(lane& mine, int i) {
  if (plan_.brief(i) && mine.count < most_briefs) {
    l_.next[static_cast<std::size_t>(i)] = std::exchange(mine.briefs, i);
    ++mine.count;
    return;
  }
  const auto place = [&](int item) { return plan_.place[static_cast<std::size_t>(item)]; };
  if (mine.next == none || place(i) < place(mine.next)) std::swap(i, mine.next);
  if (i != none) offer(i);
}

PINION_DECL void lane_run::offer(int i) {
  l_.board.put(plan_.place[static_cast<std::size_t>(i)]);
  pool_.call_for_help();
}

PINION_DECL int lane_run::next_of(lane& mine) {
  if (mine.briefs != none) {
    --mine.count;
    const int brief = mine.briefs;
    mine.briefs = l_.next[static_cast<std::size_t>(brief)];
    return brief;
  }
  const int kept = std::exchange(mine.next, none);
  const int place = kept == none ? l_.board.take() : l_.board.take_before(plan_.place[static_cast<std::size_t>(kept)]);
  if (place == none && kept == none) account_for(mine);
  if (place == none) return kept;
  if (kept != none) offer(kept);
  return plan_.item_at[static_cast<std::size_t>(place)];
}

PINION_DECL void lane_run::account_for(lane& mine) {
  const int ended = std::exchange(mine.ended, 0);
  if (l_.left.fetch_sub(ended) == ended) pool_.wake_callers();
}

}}}  // namespace pinion::v0::runtime
