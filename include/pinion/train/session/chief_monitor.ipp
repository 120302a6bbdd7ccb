// Bodies of <pinion/train/session/chief_monitor.hpp>.
#pragma once

#include <utility>

#include <fmt/format.h>

#include <pinion/op/sync/op.hpp>
#include <pinion/train/session/chief_monitor.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL chief_monitor::chief_monitor(const chief_sign& sign, graph_view g, limits given, text_sink log)
    : sign_(sign), limits_(given), log_(std::move(log)) {
  for (node_id id = 0; id < g.size(); ++id) {
    needs_chief_ = needs_chief_ || (g.contains(id) && g[id].op == op::barrier_commit::name);
    has_clocks_ = has_clocks_ || (g.contains(id) && g[id].op == op::clock_tick::name);
  }
}

PINION_DECL void chief_monitor::run(session& on, coordinator& with) {
  chief_watch chief(limits_.heartbeat);
  is_lost_ = false;
  auto next_word = chief_watch::clock::now();
  while (!with.wait_for_stop(limits_.heartbeat / 4)) {
    look(on, chief);
    if (is_lost_.exchange(chief.is_lost()) != chief.is_lost())
      next_word = chief_watch::clock::now() + std::chrono::seconds(10);
    if (!chief.is_lost()) continue;
    const auto silence = std::chrono::duration_cast<std::chrono::seconds>(chief.silence(chief_watch::clock::now()));
    if (needs_chief_ && silence >= limits_.max_wait) {
      gave_up_ = true;
      with.request_stop(too_long(chief, silence));
      return on.close({});
    }
    if (chief_watch::clock::now() < next_word) continue;
    next_word += needs_chief_ ? std::chrono::seconds(10) : std::chrono::seconds(60);
    log_(fmt::format("the chief, {}, has been lost for {} s: {}", chief.name(), silence.count(), without_chief()));
  }
}

PINION_DECL void chief_monitor::look(session& on, chief_watch& chief) const {
  try {
    tell_of(chief.see(sign_.look(on), chief_watch::clock::now()), chief);
  } catch (const error&) {
    chief.could_not_look(chief_watch::clock::now());
  }
}

PINION_DECL error chief_monitor::too_long(const chief_watch& chief, std::chrono::seconds silence) const {
  return error(errc::deadline_exceeded,
               fmt::format("the chief, {}, has been lost for {} s and did not come back, and the steps of this program "
                           "end only while it is there",
                           chief.name(), silence.count()))
      .in_task(chief.name());
}

PINION_DECL std::string chief_monitor::without_chief() const {
  if (has_clocks_) return "training goes on once nobody waits for it any more, but nobody saves until it is back";
  if (!needs_chief_) return "training goes on, but nobody saves until it is back";
  return fmt::format("this program waits for it, for {:g} s at most",
                     std::chrono::duration<double>(limits_.max_wait).count());
}

PINION_DECL void chief_monitor::tell_of(chief_watch::change now, const chief_watch& chief) const {
  if (now == chief_watch::change::lost) log_(fmt::format("the chief, {}, is lost: {}", chief.name(), without_chief()));
  if (now == chief_watch::change::back)
    log_(fmt::format("the chief, {}, is back after {:.1f} s", chief.name(),
                     std::chrono::duration<double>(chief.silence(chief_watch::clock::now())).count()));
  if (now == chief_watch::change::ended)
    log_(fmt::format("the chief, {}, has ended: {}", chief.name(), without_chief()));
}

PINION_DECL bool chief_monitor::wait_until_back(const coordinator& with, const signal_stop& signals) const {
  if (!needs_chief_ || !is_lost_) return false;
  while (is_lost_ && !signals.asked() && !with.wait_for_stop(std::chrono::milliseconds(20))) {
  }
  return !is_lost_;
}

}}}  // namespace pinion::v0::train
