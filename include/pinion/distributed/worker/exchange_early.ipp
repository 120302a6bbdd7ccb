// Bodies of <pinion/distributed/worker/exchange.hpp>: values for runs that have not begun.
#pragma once

#include <pinion/distributed/worker/exchange.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL bool exchange::may_wait(const rpc::peer& from, const run_id& run, std::uint64_t bytes,
                                    failed_runs& failing) {
  const std::string who = early_values::sender_of(from);
  bytes += early_values::least;
  if (const auto most = early_.makes_room(who, bytes); !most.empty())
    fail_runs_of(most, early_.too_much(most), failing);
  const auto refused = early_.refusal(who, bytes);
  entry& r = expected(run);
  if (r.failure) return false;
  if (refused)
    fail(r, who, *refused, early_values::least, failing);
  else
    early_.add(r.early, who, {.values = 1, .bytes = bytes});
  return !refused;
}

PINION_DECL void exchange::fail(entry& r, const std::string& by, const error& why, std::uint64_t bytes,
                                failed_runs& failing) {
  early_.remove(r.early);
  r.failure = why;
  early_.add(r.early, by, {.failed = 1, .bytes = bytes});
  failing.push_back(r.meet);
}

PINION_DECL void exchange::fail_runs_of(const std::string& sender, const error& why, failed_runs& failing) {
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

PINION_DECL void exchange::free_values(const failed_runs& all) {
  for (const auto& meet : all) meet->abort(error(errc::cancelled, "the run will not begin here"));
}

}}}  // namespace pinion::v0::distributed
