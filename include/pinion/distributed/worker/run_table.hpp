// The runs of a task, as those that exchange values in them know them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/worker/awaited_values.hpp>
#include <pinion/distributed/worker/early_values.hpp>
#include <pinion/distributed/worker/remote_rendezvous.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The limits of a run table.
struct run_table_options {
  rpc::duration max_wait = std::chrono::seconds(60);    // how long values wait for a run to begin
  std::size_t tombstones = 1024;                        // number of ended runs of a session that are remembered
  rpc::duration remembered = std::chrono::seconds(30);  // how long they are, from when the last of the session ended
  std::size_t early = 4096;                             // most values of one sender for runs that have not begun
  std::uint64_t early_bytes = std::uint64_t{1} << 30;   // most bytes of them; a quarter of these of one sender
};

// The peers of a run, each with its incarnation at the time when the step was made.
using incarnations = std::map<std::string, std::uint64_t, std::less<>>;

// The runs that go on, those for which values came before they began, and the tombstones of those that have ended.
// Owned by an exchange, under its lock. Not thread-safe.
class run_table {
 public:
  struct entry {
    std::shared_ptr<remote_rendezvous> meet;
    bool begun = false;
    time_point born{};
    incarnations peers;
    std::function<void(const error&)> failed;
    std::shared_ptr<const awaited_values> awaited;  // null: everything
    early_values::shares early;                     // what came before it began
    bool has_lost = false;                          // a peer, and was told
    std::optional<error> failure;                   // why it will not begin: it keeps no values then
  };
  using all_runs = std::map<run_id, entry>;
  // The rendezvous of runs that failed: their values are freed without the lock.
  using failed_runs = std::vector<std::shared_ptr<remote_rendezvous>>;

  run_table(rpc::network& net, std::string task, value_carrier& carrier, const run_table_options& options)
      : net_(net),
        task_(std::move(task)),
        carrier_(carrier),
        options_(options),
        early_(task_, options.early, options.early_bytes) {}

  // Begins a run, as exchange::begin() does.
  std::shared_ptr<remote_rendezvous> begin(const run_id& run, incarnations of_peers,
                                           std::function<void(const error&)> failed,
                                           std::shared_ptr<const awaited_values> awaited);
  // The entry of a run that may not have begun. Requires: the run is not over.
  entry& expected(const run_id& run);
  // The entry of a run; null: it is not here.
  entry* find(const run_id& run);
  const entry* find(const run_id& run) const;
  // Has it ended, or was it forgotten?
  bool is_over(const run_id& run) const;
  // Ends a run, and returns what was known of it.
  entry take(const run_id& run);
  all_runs& all() { return runs_; }
  std::size_t size() const { return runs_.size(); }

  // The number of values that came for runs that have not begun.
  std::size_t early() const { return early_.count(); }
  // Counts a value for a run that has not begun, and returns where it waits; null if its sender has sent too much: then
  // the run will not begin. Throws resource_exhausted if that is so of too many runs.
  std::shared_ptr<remote_rendezvous> await(const rpc::peer& from, const run_id& run, std::uint64_t bytes,
                                           failed_runs& failing);
  // Drops what one sender sent early, since it has gone, or has sent most of all.
  void fail_runs_of(const std::string& sender, const error& why, failed_runs& failing);
  static void free_values(const failed_runs& all);

  // Drops the runs that have not begun for too long, and old tombstones. Returns whether it dropped a tombstone.
  bool sweep(failed_runs& late);

 private:
  // The tombstones of a session. Masters count their runs upwards, so the lowest is the oldest.
  struct tombstones {
    std::set<std::uint64_t> runs;
    time_point last{};  // when it got the last
  };
  void bury(const run_id& run);
  void fail(entry& r, const std::string& by, const error& why, std::uint64_t bytes, failed_runs& failing);

  rpc::network& net_;
  const std::string task_;
  value_carrier& carrier_;
  const run_table_options options_;
  all_runs runs_;
  std::map<session_id, tombstones> buried_;
  early_values early_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/run_table.ipp>
#endif
