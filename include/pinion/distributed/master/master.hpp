// The part of a server that serves sessions: it keeps their graphs, and places, cuts and runs their steps.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/few_lines.hpp>
#include <pinion/base/log.hpp>
#include <pinion/distributed/master/master_session.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The master of one task: it owns the sessions that target the task. Shared by the server and by sessions of the same
// process. Thread-safe.
class master {
 public:
  explicit master(master_services services)
      : services_(std::move(services)),
        long_runs_({.most_of_one = 3, .before = "has ", .after = " more long steps, the last of which "},
                   [task = services_.name](const std::string& line) { write_log(log_level::info, task, line); }) {}
  ~master();

  // Opens a session for the client with this channel and address; 0: a client in this process. Throws
  // resource_exhausted if the client, or all clients, have too many.
  std::shared_ptr<master_session> open(session_settings settings, std::uint64_t client = 0, std::string address = {});
  std::shared_ptr<master_session> find(std::uint64_t handle) const;
  // Returns a session only to the client that opened it, since others may guess its number.
  std::shared_ptr<master_session> find(std::uint64_t handle, std::uint64_t client) const;
  // These two ignore a session that is not there.
  void cancel_steps(std::uint64_t handle, const error& why);
  void end_partial_run(std::uint64_t handle, std::uint64_t run);
  // Has the longest run of each session say for whom it waits, if it is time to; in ten seconds a few of one client,
  // ten of all, and then how many more there were. To be called each second or so, in the network's thread.
  void say_long_runs();
  // The number of those not told so far. Same thread.
  std::uint64_t long_runs_untold() const { return long_runs_.untold(); }
  // Tells of the sessions, the oldest first.
  std::vector<session_report> sessions() const;
  // Counts the steps of all sessions so far.
  step_report steps() const { return services_.steps->report(services_.net.now()); }
  // Closes a session and returns it, or null. The caller then calls let_go() in a suitable thread, since freeing a
  // large graph takes time.
  std::shared_ptr<master_session> close(std::uint64_t handle, const error& why);
  void close_all(const error& why);
  // Refuses new sessions and new steps from now on; those that have begun go on.
  void drain() { *services_.stopping = true; }
  bool is_draining() const { return *services_.stopping; }
  // Returns the number of steps that have begun.
  std::size_t runs() const;
  // Closes all sessions and refuses new ones. Returns false if a call still uses the server at `until`.
  bool stop(const error& why, time_point until);
  // Clears the named containers, or all of them, on every task, and closes the sessions of this master. Blocks until
  // every task has done so.
  void reset(const std::vector<std::string>& containers);
  rpc::network& network() { return services_.net; }

 private:
  void expect_running() const;
  std::shared_ptr<master_session> find_or_null(std::uint64_t handle) const;
  std::map<std::uint64_t, std::shared_ptr<master_session>> open_now() const;
  // Throws unless there is room for one more session of a client in another process. Requires: the lock is held.
  void expect_room(std::uint64_t client) const;
  error unknown() const;

  master_services services_;
  few_lines long_runs_;  // used by the network's thread only
  mutable std::mutex mutex_;
  std::uint64_t opened_ = 0;  // sessions so far
  std::map<std::uint64_t, std::shared_ptr<master_session>> sessions_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/master.ipp>
#endif
