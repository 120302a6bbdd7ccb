// Bodies of <pinion/distributed/worker/active_runs.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include <pinion/distributed/worker/active_runs.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

namespace detail {

// Returns the names of some nodes of a step, the last ones, since earlier nodes have often ended.
inline std::string nodes_of(const kept_step& step) {
  std::string names;
  int left = static_cast<int>(most_nodes_named);
  for (const auto& part : step.part.parts)
    for (auto it = part.items.rbegin(); it != part.items.rend() && left > 0; ++it)
      if (it->kind == runtime::part_item::compute && left-- > 0)
        names += (names.empty() ? "'" : ", '") + step.view()[it->node].name + "'";
  return names;
}

}  // namespace detail

PINION_DECL active_run::active_run(std::shared_ptr<remote_rendezvous> r, kept_steps::found&& what, requester who)
    : meet(std::move(r)),
      step(std::move(what.compiled)),
      registered(std::move(what.step)),
      session(what.session),
      owner(std::move(who)),
      state(*meet, static_cast<std::int64_t>(meet->run().count),
            owner.client != 0 ? owner.client : meet->run().session.number) {}

PINION_DECL bool active_runs::add(const run& begun, run_ended& done, std::shared_ptr<void>& counted) {
  std::lock_guard hold(mutex_);
  if (stopped_) return false;
  runs_.emplace(begun->id(), begun);
  begun->done = std::move(done);
  begun->counted = std::move(counted);
  return true;
}

PINION_DECL void active_runs::remove(const active_run& ended) {
  std::lock_guard hold(mutex_);
  runs_.erase(ended.id());
  idle_.notify_all();
}

PINION_DECL std::size_t active_runs::size() const {
  std::lock_guard hold(mutex_);
  return runs_.size();
}

PINION_DECL active_runs::run active_runs::find(const run_id& id) const {
  std::lock_guard hold(mutex_);
  const auto at = runs_.find(id);
  return at == runs_.end() ? nullptr : at->second;
}

PINION_DECL std::vector<run_report> active_runs::report(time_point now) const {
  std::vector<run_report> told;
  for (const run& a : all()) {
    run_report& r = told.emplace_back(run_report{.master = a->id().session.master,
                                                 .step = a->id().count,
                                                 .age = std::chrono::duration<double>(now - a->began).count(),
                                                 .computes = detail::nodes_of(*a->registered)});
    if (const auto key = a->meet->missing(); !key.empty()) r.waits_for = key.title();
  }
  std::stable_sort(told.begin(), told.end(), [](const auto& x, const auto& y) { return x.age > y.age; });
  if (told.size() > task_report::most_rows) told.resize(task_report::most_rows);
  return told;
}

PINION_DECL std::string active_runs::names() const {
  std::lock_guard hold(mutex_);
  if (runs_.empty()) return "";
  const kept_step& first = *runs_.begin()->second->registered;
  const std::string nodes = detail::nodes_of(first);
  return std::to_string(runs_.size()) + " run(s) of step " + std::to_string(first.number) + " of session " +
         std::to_string(first.session.number) + " (" + (nodes.empty() ? "of no nodes" : "it computes " + nodes) + ")";
}

PINION_DECL void active_runs::stop() {
  std::lock_guard hold(mutex_);
  stopped_ = true;
}

PINION_DECL bool active_runs::wait_until_none(time_point until) {
  std::unique_lock hold(mutex_);
  return idle_.wait_until(hold, until, [this] { return runs_.empty(); });
}

}}}  // namespace pinion::v0::distributed
