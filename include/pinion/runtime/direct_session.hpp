// The backend of a session in one process: it places, compiles and runs steps on a task of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_ref.hpp>
#include <pinion/placement/cost/cost_model.hpp>
#include <pinion/runtime/backend.hpp>
#include <pinion/runtime/compiled_step.hpp>
#include <pinion/runtime/local_partial_run.hpp>
#include <pinion/runtime/optimize/placed_draft.hpp>
#include <pinion/runtime/partial_run_backend.hpp>
#include <pinion/runtime/running_steps.hpp>
#include <pinion/runtime/session_bodies.hpp>
#include <pinion/runtime/step/placed_steps.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A session of this process. Owned by pinion::session; refers to the graph, which must outlive it. Thread-safe.
class direct_session final : public session_backend {
 public:
  direct_session(const session_options& options, graph& g);
  ~direct_session() override { close({}); }

  void expect_open() const override;
  std::shared_ptr<prepared_step> prepare(const step_signature& signature) override;

  void run(prepared_step& prepared, std::span<any_tensor> feeds, std::span<any_tensor> results,
           step_trace* trace) override;
  std::shared_ptr<partial_run_backend> begin_partial_run(const step_signature& signature) override;

  pinion::plan plan(const step_signature& signature) override;

  pinion::measured_costs measured_costs() override;
  memory_use memory() override;

  std::pair<any_tensor, std::string> to_device(const any_tensor& value, const device_spec& where) override;

  std::vector<device_info> list_devices() override;

  void cancel_steps(const error& why) override;
  // Waits without limit for kernels that ignore their cancellation, since they use the memory that is freed here.
  void close(source_location where) override;

 private:
  struct ready_step final : prepared_step {
    template <class... A>
    explicit ready_step(A&&... a) : compiled(std::forward<A>(a)...) {}
    std::shared_ptr<const pinion::graph> graph;  // the step's own graph, if it was optimized
    std::vector<output> fetches;                 // fetches and targets have ids of the session's graph
    std::vector<node_id> targets;
    compiled_step compiled;
  };
  // A step that one thread makes, until it is ready or has failed. Guarded by mutex_.
  struct kept_step {
    std::optional<outcome<std::shared_ptr<ready_step>>> made;  // none: it is being made
  };

  using step_table = std::unordered_map<step_signature, std::shared_ptr<kept_step>, signature_hash>;
  using partial_run_table = std::map<const local_partial_run*, std::weak_ptr<local_partial_run>>;

  // Starts the libraries of ops that were added to the graph after the session was made.
  void start_libraries_of_new_nodes();

  // Requires: mutex_ is held.
  void expect_open_held() const;
  graph& expect_graph() const;
  // Marks a thread that uses the session's members without the lock; close() waits for it. The constructor throws
  // closed_meanwhile() if the session is closed.
  class at_work {
   public:
    explicit at_work(direct_session& of);
    at_work(const at_work&) = delete;
    ~at_work();

   private:
    direct_session& of_;
  };
  // Marks a step as running until it ends in any way; close() waits for it. The constructor throws like that of
  // at_work.
  class under_way {
   public:
    under_way(direct_session& of, step_state& state, const ready_step& step);
    under_way(const under_way&) = delete;
    ~under_way();

   private:
    direct_session& of_;
    std::optional<running_steps::entered> run_;
  };
  // Requires: mutex_ is held.
  std::string what_runs() const;

  // The costs by which the session was placed, with what it has measured itself.
  cost_model with_measurements(const placement& placed) const;

  // Tells what the arenas of a step take, and what GPUs did not replay, once it has run. Requires: mutex_ is held.
  void note_runs(pinion::plan& made, const step_signature& signature) const;
  std::vector<std::shared_ptr<ready_step>> ready_steps() const;

  // ---- partial runs, which end in any thread

  void enter(const std::shared_ptr<local_partial_run>& run);
  void leave(const local_partial_run& run);
  // Fails all of them. Requires: mutex_ is not held, since a run that ends takes it.
  void fail_partial_runs(const error& why);

  // ---- steps, each made once

  // Finds the step in a table, or makes it; steps of partial runs have a table of their own.
  std::shared_ptr<ready_step> prepared(step_table& in, const step_signature& signature);
  std::shared_ptr<ready_step> await(const kept_step& step, std::unique_lock<std::mutex>& hold);
  outcome<std::shared_ptr<ready_step>> make(const step_signature& signature, bool partial);

  // Requires, for this and the next: placing_ is held.
  placement place(const step_signature& signature);
  placement place_to_run(const step_signature& signature);
  // The step that runs, which compile() cuts and plan() explains.
  optimized_step improved(const step_signature& signature, const placement& placed, bool spares_memory = false) const;
  std::shared_ptr<ready_step> compile(const step_signature& signature, bool partial);

  const session_options options_;
  const graph_ref graph_;
  runtime::task task_;
  const std::shared_ptr<cost_recorder> recorder_ = options_.record_costs ? std::make_shared<cost_recorder>() : nullptr;
  const std::shared_ptr<session_kernels> kernels_ = std::make_shared<session_kernels>(recorder_);
  const std::shared_ptr<body_compiler> bodies_ =
      std::make_shared<session_bodies>(task_, kernels_, options_.allow_soft_placement);
  std::atomic<std::int64_t> next_step_{1};

  // Steps of different signatures are placed one after the other, since the place of a node holds for all of them; they
  // are compiled concurrently.
  std::mutex placing_;
  placed_steps placed_{options_.placer, task_options{}.name, options_.allow_soft_placement};
  node_id seen_ = 0;  // nodes with this id or a higher one are new

  // A run enters first and then looks whether the session is closed; close() marks the session first and then looks for
  // runs. So each run either sees that it came too late, or is waited for.
  running_steps running_;
  std::atomic<bool> closed_{false};

  // Held for moments only; never while something is placed, compiled or waited for.
  mutable std::mutex mutex_;
  std::condition_variable idle_, made_;
  source_location closed_at_;
  int at_work_ = 0;
  step_table steps_, partial_steps_;
  partial_run_table partial_runs_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/direct_session.ipp>
#endif
