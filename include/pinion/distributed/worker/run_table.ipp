// Bodies of <pinion/distributed/worker/run_table.hpp>.
#pragma once

#include <iterator>
#include <utility>

#include <pinion/distributed/worker/run_table.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::shared_ptr<remote_rendezvous> run_table::begin(const run_id& run, incarnations of_peers,
                                                                std::function<void(const error&)> failed,
                                                                std::shared_ptr<const awaited_values> awaited) {
  if (is_over(run)) throw error(errc::cancelled, "the run was cancelled before it began");
  auto& r = expected(run);
  if (r.begun) throw error(errc::already_exists, "run " + std::to_string(run.count) + " has begun here already");
  early_.remove(r.early);
  if (r.failure) {
    const error why = *r.failure;
    runs_.erase(run);
    bury(run);
    throw error(why);
  }
  r.begun = true;
  r.peers = std::move(of_peers);
  r.failed = std::move(failed);
  r.awaited = std::move(awaited);
  return r.meet;
}

PINION_DECL run_table::entry& run_table::expected(const run_id& run) {
  if (const auto known = runs_.find(run); known != runs_.end()) return known->second;
  entry fresh;
  fresh.meet = std::make_shared<remote_rendezvous>(run, task_, carrier_);
  fresh.born = net_.now();
  return runs_.emplace(run, std::move(fresh)).first->second;
}

PINION_DECL run_table::entry* run_table::find(const run_id& run) {
  const auto at = runs_.find(run);
  return at == runs_.end() ? nullptr : &at->second;
}

PINION_DECL const run_table::entry* run_table::find(const run_id& run) const {
  const auto at = runs_.find(run);
  return at == runs_.end() ? nullptr : &at->second;
}

PINION_DECL bool run_table::is_over(const run_id& run) const {
  const auto at = buried_.find(run.session);
  if (at == buried_.end() || at->second.runs.empty()) return false;
  const auto& runs = at->second.runs;
  return run.count <= *runs.rbegin() && runs.count(run.count) > 0;  // most come in order
}

PINION_DECL void run_table::bury(const run_id& run) {
  tombstones& of = buried_[run.session];
  of.last = net_.now();
  of.runs.insert(run.count);
  if (of.runs.size() > options_.tombstones) of.runs.erase(of.runs.begin());
}

PINION_DECL run_table::entry run_table::take(const run_id& run) {
  bury(run);
  auto taken = runs_.extract(run);
  if (!taken) return {};
  early_.remove(taken.mapped().early);
  return std::move(taken.mapped());
}

PINION_DECL std::shared_ptr<remote_rendezvous> run_table::await(const rpc::peer& from, const run_id& run,
                                                                std::uint64_t bytes, failed_runs& failing) {
  const std::string who = early_values::sender_of(from);
  bytes += early_values::least;
  if (const auto most = early_.makes_room(who, bytes); !most.empty())
    fail_runs_of(most, early_.too_much(most), failing);
  const auto refused = early_.refusal(who, bytes);
  entry& r = expected(run);
  if (r.failure) return nullptr;
  if (refused)
    fail(r, who, *refused, early_values::least, failing);
  else
    early_.add(r.early, who, {.values = 1, .bytes = bytes});
  return refused ? nullptr : r.meet;
}

PINION_DECL void run_table::fail(entry& r, const std::string& by, const error& why, std::uint64_t bytes,
                                 failed_runs& failing) {
  early_.remove(r.early);
  r.failure = why;
  early_.add(r.early, by, {.failed = 1, .bytes = bytes});
  failing.push_back(r.meet);
}

PINION_DECL void run_table::fail_runs_of(const std::string& sender, const error& why, failed_runs& failing) {
  const std::string name = early_values::name_in(sender);  // under which they are counted, since the sender may be gone
  for (auto at = runs_.begin(); at != runs_.end();) {
    entry& r = at->second;
    const bool its = r.early.contains(sender), forgotten = its && !early_.may_fail(name);
    if (its && !forgotten) fail(r, name, why, 0, failing);
    if (forgotten) {
      early_.remove(r.early);
      failing.push_back(r.meet);
    }
    at = forgotten ? runs_.erase(at) : std::next(at);
  }
}

PINION_DECL void run_table::free_values(const failed_runs& all) {
  for (const auto& meet : all) meet->abort(error(errc::cancelled, "the run will not begin here"));
}

PINION_DECL bool run_table::sweep(failed_runs& late) {
  for (auto at = runs_.begin(); at != runs_.end();) {
    const bool drop = !at->second.begun && net_.now() - at->second.born > options_.max_wait;
    if (drop) {
      early_.remove(at->second.early);
      late.push_back(at->second.meet);
    }
    at = drop ? runs_.erase(at) : std::next(at);
  }
  const auto is_old = [&](const auto& of) { return net_.now() - of.second.last > options_.remembered; };
  return std::erase_if(buried_, is_old) > 0;
}

}}}  // namespace pinion::v0::distributed
