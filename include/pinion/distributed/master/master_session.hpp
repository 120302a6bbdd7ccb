// One session at its master: a replica of its graph, the steps made of it, and their runs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/known_tasks.hpp>
#include <pinion/distributed/master/session_run.hpp>
#include <pinion/runtime/optimize/draft.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

struct session_settings {
  bool soft = false;
  std::vector<std::string> filters;
  bool optimize = true;
};

// Shared by whoever speaks for the client and by its runs. All but run() block the calling thread, which must not be
// the network's. Thread-safe. What it ships or does is seen by other sessions only through the state of the tasks [S1].
//
// Invariants
//   1. A run takes no lock that is held while a graph is extended, placed or cut; nobody waits for a task with a lock
//      but that of the one step that is shipped again.
//   2. A node keeps the device that it was given first, also by a step that could not be made.
class master_session : public std::enable_shared_from_this<master_session> {
 public:
  master_session(master_services& services, std::uint64_t handle, std::uint64_t client, session_settings settings);

  std::uint64_t handle() const { return handle_; }
  std::uint64_t client() const { return client_; }  // the channel that opened it; 0: somebody in this process
  bool is_open() const;

  // A graph that could not be extended is of no use any more: what it failed with is thrown from then on.
  void extend(graph_delta delta);
  // With `lines`, says where each node went that had no place before.
  prepared_reply prepare(const runtime::step_signature& signature, patience until, bool lines);
  pinion::plan plan(const runtime::step_signature& signature, patience until);
  std::vector<device_info> devices(patience until);

  // Do all tasks of a step still hold it? A connection that broke took it along.
  bool is_fresh(std::uint64_t number) const;
  // Ships the parts again that were lost, but waits for nobody to come up. Throws unavailable for a task that is not
  // there, aborted for one that was restarted.
  void refresh(std::uint64_t number, patience until);

  // `done` is called once, in any thread.
  void run(std::uint64_t number, std::vector<any_tensor> feeds, bool trace, patience until, worker::begin_in where,
           run_ended done);

  // What its people should know of the state it uses. Each is told once.
  std::vector<std::string> take_notices();

  void cancel_steps(const error& why);
  // Cancels what runs and forgets the session everywhere. State that is shared stays.
  void close(const error& why);
  // Frees what may be large, when it has been closed. Waits for a step that is being made.
  void let_go();

 private:
  void expect_open() const;
  // Says why, where it was not the client who closed it.
  void expect_open_held() const;
  void expect_sound() const;

  // ---- making steps

  void check(const runtime::step_signature& s) const;
  // The step that runs, which prepare() cuts and plan() explains.
  runtime::optimized_step improved(const runtime::step_signature& signature, const placement& placed) const;
  session_step cut(const runtime::optimized_step& what);
  // Places the step and yields what `make` makes of it, with the lock. Waits, without it, for the tasks that the step
  // asks for; for all of them where those have no device that fits.
  template <class Make>
  std::invoke_result_t<Make, const placement_problem&, const placement&> placed(
      const runtime::step_signature& signature, patience until, const Make& make) {
    std::vector<std::string> wanted;
    {
      std::lock_guard one_at_a_time(building_);
      wanted = tasks_.asked_for(*graph_, nodes_of(signature));
    }
    for (;;) {
      tasks_.learn(wanted, until);
      std::lock_guard one_at_a_time(building_);
      const placement_problem problem = problem_of(nodes_of(signature));
      if (const auto where = place(problem)) return make(problem, *where);
      wanted = tasks_.all();
    }
  }
  // With the lock, as the next two.
  std::vector<node_id> nodes_of(const runtime::step_signature& signature) const;
  placement_problem problem_of(std::vector<node_id> nodes) const;
  // None where a task that is not known yet may have the device that is asked for.
  std::optional<placement> place(const placement_problem& problem) const;
  void ship(step_part& part, patience until);

  // ---- running

  std::shared_ptr<session_run> enter(std::uint64_t number, const std::vector<any_tensor>& feeds, const run_ended& done);
  // With the lock.
  std::shared_ptr<session_step> find(std::uint64_t number) const;
  static void check_feeds(const session_step& s, const std::vector<any_tensor>& feeds);

  master_services& s_;
  const std::shared_ptr<users> in_use_;
  const std::uint64_t handle_, client_;
  const bool soft_, optimize_;

  std::mutex building_;  // held while a graph is extended, or a step placed and cut; guards the next four
  std::optional<graph> graph_{std::in_place};
  std::optional<error> spoiled_;
  std::unordered_map<node_id, std::string> kept_;
  std::uint64_t next_step_ = 1;

  mutable std::mutex mutex_;
  std::optional<error> closed_;  // and why
  std::uint64_t last_run_ = 0;
  std::vector<std::string> notices_;
  std::map<std::uint64_t, std::shared_ptr<session_step>> steps_;
  std::map<std::uint64_t, std::shared_ptr<session_run>> running_;

  known_tasks tasks_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/master_session.ipp>
#endif
