// The session of one process: it places, compiles and runs steps on a task of its own.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/base/said_wait.hpp>
#include <pinion/graph/graph_ref.hpp>
#include <pinion/placement/plan/explain.hpp>
#include <pinion/runtime/backend.hpp>
#include <pinion/runtime/compiled_step.hpp>
#include <pinion/runtime/optimize.hpp>
#include <pinion/runtime/prune.hpp>
#include <pinion/runtime/rendezvous.hpp>
#include <pinion/runtime/session_bodies.hpp>

namespace pinion::inline v0::runtime {

class direct_session final : public session_backend {
 public:
  direct_session(const session_options& options, graph& g) : options_(options), graph_(g), task_(task_of(options)) {
    start_libraries_of_new_nodes();
    log_devices();
  }
  ~direct_session() override { close({}); }

  std::shared_ptr<prepared_step> prepare(const step_signature& signature) override {
    std::unique_lock hold(mutex_);
    expect_open();
    auto& kept = steps_[signature];
    if (const auto step = kept) return await(*step, hold);
    const auto mine = kept = std::make_shared<kept_step>();
    hold.unlock();
    kept_step made = make(signature);
    hold.lock();
    *mine = std::move(made);
    if (mine->failed) steps_.erase(signature);
    made_.notify_all();
    return result_of(*mine);
  }

  void run(prepared_step& prepared, std::span<const any_tensor> feeds, std::span<any_tensor> results,
           step_trace* trace) override {
    std::optional<step_tracer> tracer;
    if (trace) tracer.emplace();
    local_rendezvous meet;
    step_state state(meet, next_step_.fetch_add(1, std::memory_order_relaxed));
    if (options_.operation_timeout.count() > 0)
      state.deadline = std::chrono::steady_clock::now() + options_.operation_timeout;
    state.feeds.assign(feeds.begin(), feeds.end());
    state.fetches.resize(results.size());
    if (tracer) state.tracer = &*tracer;
    auto& step = static_cast<ready_step&>(prepared);
    {
      const under_way here(*this, state, step);
      if (!step.graph) expect_graph();
      step.compiled.run(state);
    }
    if (const auto failure = state.failure()) throw *failure;
    std::move(state.fetches.begin(), state.fetches.end(), results.begin());
    if (trace) *trace = tracer->take();
  }

  pinion::plan plan(const step_signature& signature) override {
    const at_work here(*this);
    std::lock_guard one_places(placing_);
    const placement_problem problem = problem_of(signature);
    return explain(problem, options_.placer(problem), with_measurements());
  }

  pinion::measured_costs measured_costs() override {
    if (recorder_) return recorder_->costs();
    throw error(errc::failed_precondition, "the session records no costs; it is made with .record_costs = true");
  }

  std::pair<any_tensor, std::string> to_device(const any_tensor& value, const device_spec& where) override {
    {
      std::lock_guard hold(mutex_);
      expect_open();
    }
    std::string there;
    for (const auto& d : task_.devices) {
      there += (there.empty() ? "" : ", ") + d->name();
      if (!compatible(where, d->spec())) continue;
      if (!d->stream()) return {value, ""};
      return {d->from_host(value), d->name()};
    }
    throw error(errc::invalid_argument, "no device fits " + to_string(where) + "; there are " + there);
  }

  std::vector<device_info> list_devices() override {
    std::lock_guard hold(mutex_);
    expect_open();
    return task_.device_infos();
  }

  void cancel_steps(const error& why) override {
    std::lock_guard hold(mutex_);
    for (const auto& [state, step] : running_) state->fail(why);
  }
  // Waits, however long, for kernels that run and do not look whether they are cancelled: they use what is freed here.
  void close(source_location where) override {
    std::unique_lock hold(mutex_);
    if (!std::exchange(closed_, true)) closed_at_ = where;
    made_.notify_all();
    for (const auto& [state, step] : running_)
      state->fail(error(errc::cancelled, "the session was closed while the step ran"));
    pinion::detail::wait_and_say(
        [&](auto time) { return idle_.wait_for(hold, time, [this] { return running_.empty() && at_work_ == 0; }); },
        [this] { return "a session that is closed waits for " + what_runs(); });
    steps_.clear();
    kernels_->clear();
    task_.resources.clear();
  }

 private:
  struct ready_step final : prepared_step {
    template <class... A>
    explicit ready_step(A&&... a) : compiled(std::forward<A>(a)...) {}
    std::shared_ptr<const pinion::graph> graph;  // of its own, where it was optimized
    std::vector<output> fetches;                 // in the session's graph, as the next
    std::vector<node_id> targets;
    compiled_step compiled;
  };
  // A step that is being made by one thread, until it is ready or has failed. Guarded by the lock.
  struct kept_step {
    std::shared_ptr<ready_step> ready;
    std::optional<error> failed;
  };

  static task_options task_of(const session_options& o) {
    // The caller works too, so one helper less than threads.
    const auto helpers = [](int threads) {
      const int all = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
      return std::max(0, all - 1);
    };
    return {.cpu_devices = o.cpu_devices,
            .simulated = sim::visible(o.simulated, o.gpu),
            .inter_op_helpers = helpers(o.inter_op_threads),
            .intra_op_helpers = helpers(o.intra_op_threads)};
  }

  void log_devices() const {
    if (!options_.log_device_placement) return;
    bool first = true;
    for (const auto& d : task_.devices) {
      if (d->description().empty()) continue;
      if (std::exchange(first, false)) log_placement(options_, "Device mapping:");
      log_placement(options_, d->name() + " -> " + d->description());
    }
  }

  // A graph may be built when its session is there.
  void start_libraries_of_new_nodes() {
    const graph& g = expect_graph();
    start_libraries(g, std::exchange(seen_, g.size()));
  }

  void expect_open() const {
    if (closed_) throw error(errc::failed_precondition, "the session is closed").called_at(to_string(closed_at_));
  }
  const graph& expect_graph() const {
    if (const graph* const g = graph_.get()) return *g;
    throw error(errc::failed_precondition,
                "the graph of the session is gone: it was destroyed, or reset_default_graph() replaced it; a session "
                "refers to its graph, which must outlive it");
  }
  // A thread that makes something with what belongs to the session, without the lock: close() waits for it.
  class at_work {
   public:
    explicit at_work(direct_session& of) : of_(of) {
      std::lock_guard hold(of_.mutex_);
      of_.expect_open();
      ++of_.at_work_;
    }
    at_work(const at_work&) = delete;
    ~at_work() {
      std::lock_guard hold(of_.mutex_);
      --of_.at_work_;
      of_.idle_.notify_all();
    }

   private:
    direct_session& of_;
  };
  // A step between its beginning and its end, however it ends: close() waits for it.
  class under_way {
   public:
    under_way(direct_session& of, step_state& state, const ready_step& step) : of_(of), state_(state) {
      std::lock_guard hold(of_.mutex_);
      of_.expect_open();
      of_.running_.emplace(&state_, &step);
    }
    under_way(const under_way&) = delete;
    ~under_way() {
      std::lock_guard hold(of_.mutex_);
      of_.running_.erase(&state_);
      of_.idle_.notify_all();
    }

   private:
    direct_session& of_;
    step_state& state_;
  };
  // Requires: the lock.
  std::string what_runs() const {
    if (running_.empty()) return "a step that another thread makes ready";
    const ready_step& first = *running_.begin()->second;
    const std::string others = running_.size() == 1 ? "" : " and " + std::to_string(running_.size() - 1) + " more";
    return "the step of " + names_of(first) + others + ", in which a kernel runs on though it was cancelled";
  }
  std::string names_of(const ready_step& step) const {
    const graph* const g = graph_.get();
    if (!g) return "a graph that is gone";
    std::string all;
    for (const output& o : step.fetches) all += (all.empty() ? "'" : ", '") + output_name((*g)[o.node], o.index) + "'";
    for (const node_id t : step.targets) all += (all.empty() ? "'" : ", '") + (*g)[t].name + "'";
    return all;
  }

  cost_model with_measurements() const {
    cost_model m;
    if (recorder_) m.measured = recorder_->costs();
    return m;
  }
  // Requires: placing_ is held.
  placement_problem problem_of(const step_signature& signature) const {
    const graph& g = expect_graph();
    return {.graph = g,
            .nodes = prune(g, signature),
            .devices = task_.device_infos(),
            .kept = kept_,
            .home = task_options{}.name,
            .soft = options_.allow_soft_placement};
  }

  // ---- steps, each made once

  std::shared_ptr<ready_step> await(const kept_step& step, std::unique_lock<std::mutex>& hold) {
    made_.wait(hold, [&] { return step.ready || step.failed || closed_; });
    expect_open();
    return result_of(step);
  }
  static std::shared_ptr<ready_step> result_of(const kept_step& step) {
    if (step.failed) throw error(*step.failed);
    return step.ready;
  }
  kept_step make(const step_signature& signature) {
    try {
      const at_work here(*this);
      return {compile(signature), {}};
    } catch (...) {
      return {nullptr, current_error()};
    }
  }

  placement place(const step_signature& signature) {
    std::lock_guard one_places(placing_);
    start_libraries_of_new_nodes();
    placement placed = options_.placer(problem_of(signature));
    const auto fresh = keep(placed, kept_);
    if (options_.log_device_placement)
      for (const auto& line : placement_lines(expect_graph(), placed, fresh)) log_placement(options_, line);
    return placed;
  }
  std::shared_ptr<ready_step> compile(const step_signature& signature) {
    auto step = compile(signature, place(signature));
    step->fetches = signature.fetches;
    step->targets = signature.targets;
    return step;
  }
  std::shared_ptr<ready_step> compile(const step_signature& signature, const placement& placed) {
    const graph& g = expect_graph();
    if (!options_.optimize || options_.record_costs) return ready(g, placed, signature);
    const optimized_step better = optimize(g, placed, signature);
    auto step = ready(*better.graph, better.placement, better.signature);
    step->graph = better.graph;
    return step;
  }

  std::shared_ptr<ready_step> ready(const pinion::graph& g, const placement& placed, const step_signature& signature) {
    return std::make_shared<ready_step>(partitioner(g, placed, signature, 0).run(), g, task_, *kernels_, bodies_);
  }

  const session_options options_;
  const graph_ref graph_;
  runtime::task task_;
  const std::shared_ptr<cost_recorder> recorder_ = options_.record_costs ? std::make_shared<cost_recorder>() : nullptr;
  const std::shared_ptr<session_kernels> kernels_ = std::make_shared<session_kernels>(recorder_);
  const std::shared_ptr<body_compiler> bodies_ =
      std::make_shared<session_bodies>(task_, kernels_, options_.allow_soft_placement);
  std::atomic<std::int64_t> next_step_{1};

  // Steps of different signatures are placed one after the other, since where a node is holds for all of them, and
  // compiled side by side.
  std::mutex placing_;
  std::unordered_map<node_id, std::string> kept_;
  node_id seen_ = 0;  // nodes from here on are new

  // Held for moments only, since each step takes it twice: never while something is placed, compiled or waited for.
  std::mutex mutex_;
  std::condition_variable idle_, made_;
  bool closed_ = false;
  source_location closed_at_;
  std::map<step_state*, const ready_step*> running_;
  int at_work_ = 0;
  std::unordered_map<step_signature, std::shared_ptr<kept_step>, signature_hash> steps_;
};

}  // namespace pinion::inline v0::runtime
