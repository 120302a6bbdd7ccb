// Bodies of <pinion/runtime/direct_session.hpp>.
#pragma once

#include <algorithm>
#include <thread>

#include <pinion/base/said_wait.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/runtime/direct_session.hpp>
#include <pinion/runtime/optimize/optimize.hpp>
#include <pinion/runtime/step/prune.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL direct_session::direct_session(const session_options& options, graph& g)
    : options_(options), graph_(g), task_(task_of(options)) {
  start_libraries_of_new_nodes();
  log_devices();
}

PINION_DECL std::shared_ptr<prepared_step> direct_session::prepare(const step_signature& signature) {
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

PINION_DECL void direct_session::run(prepared_step& prepared, std::span<const any_tensor> feeds,
                                     std::span<any_tensor> results, step_trace* trace) {
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

PINION_DECL pinion::plan direct_session::plan(const step_signature& signature) {
  const at_work here(*this);
  std::lock_guard one_places(placing_);
  start_libraries_of_new_nodes();
  const placement_problem problem = problem_of(signature);
  const placement placed = options_.placer(problem);
  return explain(problem, placed, improved(signature, placed), with_measurements());
}

PINION_DECL pinion::measured_costs direct_session::measured_costs() {
  if (recorder_) return recorder_->costs();
  throw error(errc::failed_precondition, "the session records no costs; it is made with .record_costs = true");
}

PINION_DECL std::pair<any_tensor, std::string> direct_session::to_device(const any_tensor& value,
                                                                         const device_spec& where) {
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

PINION_DECL std::vector<device_info> direct_session::list_devices() {
  std::lock_guard hold(mutex_);
  expect_open();
  return task_.device_infos();
}

PINION_DECL void direct_session::cancel_steps(const error& why) {
  std::lock_guard hold(mutex_);
  for (const auto& [state, step] : running_) state->fail(why);
}

PINION_DECL void direct_session::close(source_location where) {
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

PINION_DECL task_options direct_session::task_of(const session_options& o) {
  // The calling thread works too, so there is one helper less than threads.
  const auto helpers = [](int threads) {
    const int all = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
    return std::max(0, all - 1);
  };
  return {.cpu_devices = o.cpu_devices,
          .simulated = sim::visible(o.simulated, o.gpu),
          .inter_op_helpers = helpers(o.inter_op_threads),
          .intra_op_helpers = helpers(o.intra_op_threads)};
}

PINION_DECL void direct_session::log_devices() const {
  if (!options_.log_device_placement) return;
  bool first = true;
  for (const auto& d : task_.devices) {
    if (d->description().empty()) continue;
    if (std::exchange(first, false)) log_placement(options_, "Device mapping:");
    log_placement(options_, d->name() + " -> " + d->description());
  }
}

PINION_DECL void direct_session::start_libraries_of_new_nodes() {
  const graph& g = expect_graph();
  start_libraries(g, std::exchange(seen_, g.size()));
}

PINION_DECL void direct_session::expect_open() const {
  if (closed_) throw error(errc::failed_precondition, "the session is closed").called_at(to_string(closed_at_));
}

PINION_DECL graph& direct_session::expect_graph() const {
  if (graph* const g = graph_.get()) return *g;
  throw error(errc::failed_precondition,
              "the graph of the session is gone: it was destroyed, or reset_default_graph() replaced it; a session "
              "refers to its graph, which must outlive it");
}

PINION_DECL direct_session::at_work::at_work(direct_session& of) : of_(of) {
  std::lock_guard hold(of_.mutex_);
  of_.expect_open();
  ++of_.at_work_;
}

PINION_DECL direct_session::at_work::~at_work() {
  std::lock_guard hold(of_.mutex_);
  --of_.at_work_;
  of_.idle_.notify_all();
}

PINION_DECL direct_session::under_way::under_way(direct_session& of, step_state& state, const ready_step& step)
    : of_(of), state_(state) {
  std::lock_guard hold(of_.mutex_);
  of_.expect_open();
  of_.running_.emplace(&state_, &step);
}

PINION_DECL direct_session::under_way::~under_way() {
  std::lock_guard hold(of_.mutex_);
  of_.running_.erase(&state_);
  of_.idle_.notify_all();
}

PINION_DECL std::string direct_session::what_runs() const {
  if (running_.empty()) return "a step that another thread makes ready";
  const ready_step& first = *running_.begin()->second;
  const std::string others = running_.size() == 1 ? "" : " and " + std::to_string(running_.size() - 1) + " more";
  return "the step of " + names_of(first) + others + ", in which a kernel runs on though it was cancelled";
}

PINION_DECL std::string direct_session::names_of(const ready_step& step) const {
  graph* const g = graph_.get();
  if (!g) return "a graph that is gone";
  std::string all;
  for (const output& o : step.fetches) all += (all.empty() ? "'" : ", '") + output_name((*g)[o.node], o.index) + "'";
  for (const node_id t : step.targets) all += (all.empty() ? "'" : ", '") + (*g)[t].name + "'";
  return all;
}

PINION_DECL cost_model direct_session::with_measurements() const {
  cost_model m;
  if (recorder_) m.measured = recorder_->costs();
  return m;
}

PINION_DECL placement_problem direct_session::problem_of(const step_signature& signature) const {
  const graph_view g(expect_graph());
  return {.graph = g,
          .nodes = prune(g, signature),
          .devices = task_.device_infos(),
          .kept = kept_,
          .home = task_options{}.name,
          .soft = options_.allow_soft_placement};
}

PINION_DECL std::shared_ptr<direct_session::ready_step> direct_session::await(const kept_step& step,
                                                                              std::unique_lock<std::mutex>& hold) {
  made_.wait(hold, [&] { return step.ready || step.failed || closed_; });
  expect_open();
  return result_of(step);
}

PINION_DECL std::shared_ptr<direct_session::ready_step> direct_session::result_of(const kept_step& step) {
  if (step.failed) throw error(*step.failed);
  return step.ready;
}

PINION_DECL direct_session::kept_step direct_session::make(const step_signature& signature) {
  try {
    const at_work here(*this);
    return {compile(signature), {}};
  } catch (...) {
    return {nullptr, current_error()};
  }
}

PINION_DECL placement direct_session::place(const step_signature& signature) {
  std::lock_guard one_places(placing_);
  start_libraries_of_new_nodes();
  placement placed = options_.placer(problem_of(signature));
  const auto fresh = keep(placed, kept_);
  if (options_.log_device_placement)
    for (const auto& line : placement_lines(expect_graph(), placed, fresh)) log_placement(options_, line);
  return placed;
}

PINION_DECL std::shared_ptr<direct_session::ready_step> direct_session::compile(const step_signature& signature) {
  auto step = compile(signature, place(signature));
  step->fetches = signature.fetches;
  step->targets = signature.targets;
  return step;
}

PINION_DECL optimized_step direct_session::improved(const step_signature& signature, const placement& placed) const {
  if (!options_.optimize || options_.record_costs) return {nullptr, placed, signature};
  return optimize(expect_graph(), placed, signature);
}

PINION_DECL std::shared_ptr<direct_session::ready_step> direct_session::compile(const step_signature& signature,
                                                                                const placement& placed) {
  const optimized_step better = improved(signature, placed);
  auto step = ready(better.in_place_of(expect_graph()), better.placement, better.signature);
  step->graph = better.graph;
  return step;
}

PINION_DECL std::shared_ptr<direct_session::ready_step> direct_session::ready(graph_view g, const placement& placed,
                                                                              const step_signature& signature) {
  return std::make_shared<ready_step>(cut_by_device(g, placed, signature, 0), g, task_, *kernels_, bodies_);
}

}}}  // namespace pinion::v0::runtime
