// The graph of a session at its master, and how steps are made of it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/known_tasks.hpp>
#include <pinion/distributed/master/session_quota.hpp>
#include <pinion/distributed/master/session_runs.hpp>
#include <pinion/distributed/master/session_step.hpp>
#include <pinion/runtime/optimize/placed_draft.hpp>
#include <pinion/runtime/step/placed_steps.hpp>
#include <pinion/runtime/step/prune.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

struct session_settings {
  bool soft = false;
  std::vector<std::string> filters;
  bool optimize = true;
  runtime::transfer_rules transfers = {};
};

// A replica of the client's graph, of which steps are placed and cut. Owned by the session, to whose other parts it
// refers. Thread-safe: one thread works on the graph at a time, and waits for tasks without it.
//
// A node keeps the first device it was given, even if the step that placed it could not be made.
class session_graph {
 public:
  // `host` is that of the client, for which large parts of graphs are kept.
  session_graph(master_services& services, const session_settings& how, session_runs& runs, known_tasks& tasks,
                session_quota& quota, std::string host)
      : s_(services),
        soft_(how.soft),
        optimize_(how.optimize),
        transfers_(how.transfers),
        runs_(runs),
        tasks_(tasks),
        quota_(quota),
        host_(std::move(host)),
        placed_(services.place, parse_device(services.name), how.soft) {}

  // Adds nodes to the graph, which take so much memory, as estimated. If that fails, the session is unusable, and every
  // later call throws the same error. Beyond the limits of a client's session it throws resource_exhausted, adds
  // nothing, and the session goes on.
  void extend(graph_delta delta, std::uint64_t memory);
  // Adds the nodes of a delta that is known by its fingerprint, since it came before, behind the same beginning.
  // Returns false, and adds nothing, if it is not known.
  bool extend_known(const fingerprint& delta);

  struct made_step {
    std::shared_ptr<session_step> step;
    std::vector<std::string> lines = {};  // where each newly placed node went, if the options ask for it
  };
  // Places a step and cuts it by task. Takes its memory of the quota, which the caller gives back where the step is not
  // kept; throws resource_exhausted beyond it.
  made_step make(const runtime::step_signature& signature, deadline until, prepare_options how);
  pinion::plan plan(const runtime::step_signature& signature, const call_limits& limits);

  // Frees the graph of a closed session, or leaves that to a thread that makes a step now: that thread was cancelled,
  // and frees the session with its graph when it notices it.
  void let_go();

 private:
  // A delta that some session was extended by.
  struct known_delta {
    graph_delta delta;
    std::uint64_t memory = 0;
  };

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

  // Requires, for all that follow: building_ is held.
  //
  // The nodes that the session was sent so far, which come settled. Requires: the session is open.
  graph_view replica() const { return graph_view::of_settled(*graph_); }
  void expect_sound() const;
  void expect_fits(const runtime::step_signature& signature) const;
  // Returns none if a task that is not yet known may have the requested device.
  std::optional<placement> place(const runtime::step_signature& signature);
  // The step that runs, which make() cuts and plan() explains.
  runtime::optimized_step improved(const runtime::step_signature& signature, const placement& placed) const;
  session_step cut(const runtime::optimized_step& what, bool partial);
  // Tells in a plan which values go as bfloat16, and how many bytes they then have.
  pinion::plan narrowed(const pinion::plan& p, const runtime::optimized_step& what) const;
  // If apply() throws, the session is unusable.
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

  master_services& s_;
  const bool soft_, optimize_;
  const runtime::transfer_rules transfers_;
  session_runs& runs_;
  known_tasks& tasks_;
  session_quota& quota_;
  const std::string host_;

  std::mutex building_;  // held while the graph is extended, or a step placed and cut; guards the following
  std::optional<graph> graph_{std::in_place};
  fingerprint held_;  // of the deltas that the graph consists of; not of a session of this process
  std::optional<error> failure_;
  runtime::placed_steps placed_;
  std::uint64_t next_step_ = 1;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/session_graph.ipp>
#endif
