// Bodies of <pinion/distributed/worker/exchange.hpp>: values for runs that have not begun.
#pragma once

#include <pinion/distributed/worker/exchange.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL bool exchange::may_wait(const rpc::guest& from, const run_id& run, std::uint64_t bytes,
                                    spoilt_runs& spoilt) {
  const std::string who = early_values::sender_of(from);
  bytes += early_values::least;
  if (const auto most = early_.makes_room(who, bytes); !most.empty())
    spoil_runs_of(most, early_.too_much(most), spoilt);
  const auto refused = early_.refusal(who, bytes);
  entry& r = expected(run);
  if (r.spoilt) return false;
  if (refused)
    spoil(r, who, *refused, early_values::least, spoilt);
  else
    early_.add(r.early, who, {.values = 1, .bytes = bytes});
  return !refused;
}

PINION_DECL void exchange::spoil(entry& r, const std::string& by, const error& why, std::uint64_t bytes,
                                 spoilt_runs& spoilt) {
  early_.remove(r.early);
  r.spoilt = why;
  early_.add(r.early, by, {.spoilt = 1, .bytes = bytes});
  spoilt.push_back(r.meet);
}

PINION_DECL void exchange::spoil_runs_of(const std::string& sender, const error& why, spoilt_runs& spoilt) {
  const std::string name = early_values::name_in(sender);  // under which they are counted, since the sender may be gone
  for (auto at = runs_.begin(); at != runs_.end();) {
    entry& r = at->second;
    const bool its = r.early.contains(sender), forgotten = its && !early_.may_spoil(name);
    if (its && !forgotten) spoil(r, name, why, 0, spoilt);
    if (forgotten) {
      early_.remove(r.early);
      spoilt.push_back(r.meet);
    }
    at = forgotten ? runs_.erase(at) : std::next(at);
  }
}

PINION_DECL void exchange::free_values(const spoilt_runs& all) {
  for (const auto& meet : all) meet->abort(error(errc::cancelled, "the run will not begin here"));
}

}}}  // namespace pinion::v0::distributed
