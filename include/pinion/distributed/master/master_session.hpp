// One session at its master: a replica of its graph, the steps made of it, and their runs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/few_lines.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/distributed/master/known_tasks.hpp>
#include <pinion/distributed/master/session_partial_run.hpp>
#include <pinion/distributed/master/session_quota.hpp>
#include <pinion/distributed/master/session_run.hpp>
#include <pinion/distributed/wire/cancellations.hpp>
#include <pinion/distributed/worker/step_counts.hpp>
#include <pinion/runtime/optimize/placed_draft.hpp>
#include <pinion/runtime/step/placed_steps.hpp>
#include <pinion/runtime/step/prune.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The client that opened a session.
struct session_owner {
  std::uint64_t client = 0;  // its channel; 0: a client in this process
  std::string address = {};  // of that client
  std::uint64_t number = 0;  // the count of sessions when it opened this one
};

struct session_settings {
  bool soft = false;
  std::vector<std::string> filters;
  bool optimize = true;
  runtime::transfer_rules transfers = {};
};

// A session at its master. Shared by the calls of its client and by its runs. Thread-safe. Every function but run()
// blocks the calling thread, which must not be the network's. Other sessions see its effects only through the state of
// tasks. [S1]
//
// Invariants
//   1. A run takes no lock that is held while a graph is extended, placed or cut. No lock is held while waiting for a
//      task, except the one of a step that is shipped again.
//   2. A node keeps the first device it was given, even if the step that placed it could not be made.
class master_session : public std::enable_shared_from_this<master_session> {
 public:
  master_session(master_services& services, std::uint64_t handle, session_owner owner, session_settings settings);

  std::uint64_t handle() const { return handle_; }
  std::uint64_t client() const { return owner_.client; }
  bool is_open() const;
  std::size_t runs() const;  // that have begun
  session_report report() const;

  // Adds nodes to the graph, which take so much memory, as estimated. If that fails, the session is unusable, and every
  // later call throws the same error. Beyond the limits of a client's session it throws resource_exhausted, adds
  // nothing, and the session goes on.
  void extend(graph_delta delta, std::uint64_t memory);
  // Adds the nodes of a delta that is known by its fingerprint, since it came before, behind the same beginning.
  // Returns false, and adds nothing, if it is not known.
  bool extend_known(const fingerprint& delta);
  // Places, cuts and ships a step.
  prepared_reply prepare(const runtime::step_signature& signature, const call_limits& limits, prepare_options how);
  pinion::plan plan(const runtime::step_signature& signature, const call_limits& limits);
  std::vector<device_info> devices(const call_limits& limits);

  // Throws unless the step may be run with such feeds.
  void expect_feeds(std::uint64_t number, std::span<const described_value> feeds) const;
  // Throws unless the step exists, and its feeds may have so many bytes.
  void expect_feeds(std::uint64_t number, std::uint64_t bytes) const;

  // Do all tasks of a step still hold their parts? A task drops them when its connection breaks.
  bool is_fresh(std::uint64_t number) const;
  // Ships lost parts again, but does not wait for a task to come up; returns at once where none is lost. Throws
  // unavailable if a task does not answer, aborted if it was restarted.
  void refresh(std::uint64_t number, deadline until);

  // Runs a step; `done` is called once, in any thread.
  void run(std::uint64_t number, std::vector<any_tensor> feeds, bool trace, deadline until, worker::begin_in where,
           run_ended done);

  // Begins a partial run of a step that was prepared for it, and returns its number. `counted` is kept until the run
  // is forgotten, with end_partial_run() or with the session.
  std::uint64_t begin_partial_run(std::uint64_t number, session_partial_run::share counted);
  std::shared_ptr<session_partial_run> partial_run(std::uint64_t number) const;
  void end_partial_run(std::uint64_t number);

  // Returns notices for the session's users about the state it uses. Each is returned once.
  std::vector<std::string> take_notices();

  // Has its longest run say for whom it waits, if it is time to. To be called each second or so.
  void say_long_runs(const few_lines::sink& say);
  void cancel_steps(const error& why);
  // Cancels its runs and forgets the session on every task. Shared state stays.
  void close(const error& why);
  // Frees the graph and the steps of a closed session. Waits for a step that is being made.
  void let_go();

 private:
  void expect_open() const;
  // Throws the reason if the session is closed, or if its server begins nothing more. Requires: the lock is held.
  void expect_open_held() const;
  void expect_sound() const;

  // ---- making steps

  // The nodes that the session was sent so far, which come settled. Requires: building_ is held, and the session open.
  graph_view replica() const;
  // The step that runs, which prepare() cuts and plan() explains.
  runtime::optimized_step improved(const runtime::step_signature& signature, const placement& placed) const;
  session_step cut(const runtime::optimized_step& what, bool partial);
  // Tells in a plan which values go as bfloat16, and how many bytes they then have.
  pinion::plan narrowed(const pinion::plan& p, const runtime::optimized_step& what) const;
  // Places a step and returns the result of `make`, which is called with the lock held. It waits, without the lock, for
  // the tasks that the step names; if none of them has a fitting device, for all tasks.
  template <class Make>
  std::invoke_result_t<Make, const placement&> placed(const runtime::step_signature& signature, deadline until,
                                                      const Make& make) {
    std::vector<std::string> wanted;
    {
      std::lock_guard one_at_a_time(building_);
      expect_fits(signature);
      wanted = tasks_.asked_for(replica(), runtime::prune(replica(), signature));
    }
    for (;;) {
      tasks_.learn(wanted, until);
      std::lock_guard one_at_a_time(building_);
      expect_fits(signature);
      if (const auto where = place(signature)) return make(*where);
      wanted = tasks_.all();
    }
  }
  // A delta that some session was extended by.
  struct known_delta {
    graph_delta delta;
    std::uint64_t memory = 0;
  };
  // Requires, for the next four: building_ is held. If apply() throws, the session is unusable.
  template <class Apply>
  void grow(std::uint64_t memory, const Apply& apply) {
    try {
      apply();
      quota_.take(memory);
    } catch (...) {
      failure_ = current_error().in_task(s_.name);
      throw error(*failure_);
    }
  }
  void apply_and_keep(graph_delta delta, std::uint64_t memory);
  void expect_fits(const runtime::step_signature& signature) const;
  // Returns none if a task that is not yet known may have the requested device.
  std::optional<placement> place(const runtime::step_signature& signature);
  enum class parts { all, lost };
  // If the session is closed meanwhile, its tasks are told once more to forget it, since a part may have reached them
  // after close() told them.
  void ship(session_step& step, parts which, deadline until);
  bool is_lost(const step_part& part);
  void ship(step_part& part, deadline until);
  // Ships a part to a task that holds its nodes. Returns false if they are few, or not there.
  bool ship_known(const step_part& part, deadline until);
  void forget_on_tasks();

  // ---- running

  std::shared_ptr<session_run> enter(std::uint64_t number, const std::vector<any_tensor>& feeds, const run_ended& done);
  // Requires, for these two: mutex_ is held.
  std::shared_ptr<session_run> enter(std::uint64_t run, const std::shared_ptr<const session_step>& step,
                                     const run_ended& done);
  std::shared_ptr<session_step> find(std::uint64_t number) const;
  std::map<std::uint64_t, std::shared_ptr<session_run>> under_way() const;
  template <class Value>
  static void check_feeds(const session_step& s, std::span<const Value> feeds);
  session_id name() const { return {s_.name, s_.incarnation, handle_}; }

  master_services& s_;
  const std::shared_ptr<users> in_use_;
  const std::uint64_t handle_;
  const session_owner owner_;
  const bool soft_, optimize_;
  const runtime::transfer_rules transfers_;

  std::mutex building_;  // held while a graph is extended, or a step placed and cut; guards the next five
  std::optional<graph> graph_{std::in_place};
  fingerprint held_;  // of the deltas that the graph consists of; not of a session of this process
  std::optional<error> failure_;
  runtime::placed_steps placed_;
  std::uint64_t next_step_ = 1;
  session_quota quota_;

  mutable std::mutex mutex_;
  shared_error closed_;  // the reason; null while it is open
  std::uint64_t last_run_ = 0;
  std::vector<std::string> notices_;
  std::map<std::uint64_t, std::shared_ptr<session_step>> steps_;
  std::map<std::uint64_t, std::shared_ptr<session_run>> running_;
  std::map<std::uint64_t, std::shared_ptr<session_partial_run>> partial_runs_;  // each refers to this until close()
  cancellations cancellations_;
  step_counts counts_;

  known_tasks tasks_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/master_session.ipp>
#endif
