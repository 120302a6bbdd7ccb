// Bodies of <pinion/runtime/direct_session.hpp>.
#pragma once

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include <pinion/base/countdown.hpp>
#include <pinion/base/log.hpp>
#include <pinion/base/processors.hpp>
#include <pinion/base/said_wait.hpp>
#include <pinion/device/pool_allocator.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/runtime/direct_session.hpp>
#include <pinion/runtime/optimize/fit_memory.hpp>
#include <pinion/runtime/optimize/optimize.hpp>
#include <pinion/runtime/step/segment.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

inline task_options task_of(const session_options& o) {
  // The calling thread works too, so there is one helper less than threads.
  const auto helpers = [](int threads) {
    const int all = threads > 0 ? threads : usable_processors();
    return std::max(0, all - 1);
  };
  return {.cpu_devices = o.cpu_devices,
          .simulated = o.simulated,
          .gpu = o.gpu,
          .inter_op_helpers = helpers(o.inter_op_threads),
          .intra_op_helpers = helpers(o.intra_op_threads)};
}

inline void log_devices(const session_options& options, const runtime::task& of) {
  if (!options.log_device_placement) return;
  bool first = true;
  for (const auto& d : of.devices) {
    if (d->description().empty()) continue;
    if (std::exchange(first, false)) log_placement(options, "Device mapping:");
    log_placement(options, d->name() + " -> " + d->description());
  }
}

// The names of what a step fetches and runs: 'sum:0', 'train'.
inline std::string names_of(graph_view g, const std::vector<output>& fetches, const std::vector<node_id>& targets) {
  std::string all;
  for (const output& o : fetches) all += (all.empty() ? "'" : ", '") + output_name(g[o.node], o.index) + "'";
  for (const node_id t : targets) all += (all.empty() ? "'" : ", '") + g[t].name + "'";
  return all;
}

}  // namespace detail

PINION_DECL direct_session::direct_session(const session_options& options, graph& g)
    : options_(options), graph_(g), task_(detail::task_of(options)) {
  start_libraries_of_new_nodes();
  detail::log_devices(options_, task_);
}

PINION_DECL std::shared_ptr<prepared_step> direct_session::prepare(const step_signature& signature) {
  return options_.check_values ? prepared(steps_, checking(signature)) : prepared(steps_, signature);
}

PINION_DECL std::shared_ptr<direct_session::ready_step> direct_session::prepared(step_table& in,
                                                                                 const step_signature& signature) {
  std::unique_lock hold(mutex_);
  expect_open_held();
  auto& kept = in[signature];
  if (const auto step = kept) return await(*step, hold);
  const auto mine = kept = std::make_shared<kept_step>();
  hold.unlock();
  auto made = make(signature, &in == &partial_steps_);
  hold.lock();
  mine->made = std::move(made);
  if (!mine->made->ok()) in.erase(signature);
  made_.notify_all();
  return mine->made->value();
}

PINION_DECL void direct_session::run(prepared_step& prepared, std::span<any_tensor> feeds,
                                     std::span<any_tensor> results, step_trace* trace) {
  std::optional<step_tracer> tracer;
  if (trace) tracer.emplace();
  local_rendezvous meet;
  step_state state(meet, next_step_.fetch_add(1, std::memory_order_relaxed));
  if (options_.operation_timeout.count() > 0)
    state.deadline = std::chrono::steady_clock::now() + bounded(options_.operation_timeout);
  state.feeds = feeds;
  state.fetches = results;
  if (tracer) state.tracer = &*tracer;
  auto& step = static_cast<ready_step&>(prepared);
  {
    const under_way here(*this, state, step);
    if (!step.graph) expect_graph();
    step.compiled.run(state);
  }
  const auto failure = state.failure();
  if (trace) {
    *trace = tracer->take();
    if (failure) trace->failure = failure->what();
  }
  outcome<>(failure).value();
}

PINION_DECL std::shared_ptr<partial_run_backend> direct_session::begin_partial_run(const step_signature& signature) {
  const auto step = prepared(partial_steps_, options_.check_values ? checking(signature) : signature);
  if (!step->graph) expect_graph();
  const auto run = std::make_shared<local_partial_run>(std::shared_ptr<compiled_step>(step, &step->compiled),
                                                       next_step_.fetch_add(1, std::memory_order_relaxed),
                                                       options_.operation_timeout);
  enter(run);
  run->begin([this, which = run.get()] { leave(*which); });
  return run;
}

PINION_DECL void direct_session::enter(const std::shared_ptr<local_partial_run>& run) {
  std::lock_guard hold(mutex_);
  if (closed_) throw closed_meanwhile();
  partial_runs_.emplace(run.get(), run);
}

PINION_DECL void direct_session::leave(const local_partial_run& run) {
  std::lock_guard hold(mutex_);
  partial_runs_.erase(&run);
  idle_.notify_all();
}

PINION_DECL void direct_session::fail_partial_runs(const error& why) {
  std::vector<std::shared_ptr<local_partial_run>> all;
  {
    std::lock_guard hold(mutex_);
    for (const auto& [which, run] : partial_runs_) all.push_back(run.lock());
  }
  for (const auto& run : all)
    if (run) run->fail(why);
}

namespace detail {

// The step within a limit of memory, as far as that is possible; 0: there is none. `improved` makes it, with memory
// spared or not.
template <class Improve>
fitted_step fitted(graph_view g, const step_signature& signature, const placement& placed, std::int64_t limit,
                   const Improve& improved) {
  if (limit <= 0) return {improved(false)};
  const auto own = [&](bool spares_memory) {
    optimized_step made = improved(spares_memory);
    return made.graph ? std::move(made) : placed_draft(g, placed, signature).finished();
  };
  return fit_memory(own(false), limit, costs_of(placed).unknown_extent, [&] { return own(true); });
}

}  // namespace detail

PINION_DECL pinion::plan direct_session::plan(const step_signature& asked) {
  const step_signature signature = options_.check_values ? checking(asked) : asked;
  expect_open();
  const at_work here(*this);
  std::unique_lock one_places(placing_);
  const placement placed = place(signature);
  one_places.unlock();
  std::vector<device_info> devices = placed.devices();
  const std::vector<std::string> libraries = task_.libraries();
  for (device_info& d : devices)
    if (d.is_cuda) d.libraries = libraries;
  const optimized_step step = improved(signature, placed, false);
  pinion::plan made = explain(expect_graph(), placed, step, std::move(devices), options_.allow_soft_placement,
                              with_measurements(placed));
  if (options_.memory_limit > 0) {
    const auto improve = [&](bool spares_memory) { return spares_memory ? improved(signature, placed, true) : step; };
    const fitted_step fit = detail::fitted(expect_graph(), signature, placed, options_.memory_limit, improve);
    if (!fit.told.empty()) made.add_note(fit.told);
  }
  std::lock_guard hold(mutex_);
  note_runs(made, signature);
  return made;
}

namespace detail {

inline void note_arena(pinion::plan& made, const executable& part) {
  if (const std::size_t live = part.arenas->live; live > 0)
    made.add_note(
        fmt::format("{}: the values within a run take an arena of {} bytes, of which {} are in use at "
                    "once, as the runs so far tell",
                    part.device->name(), part.arenas->arena.load(), live));
}

// Requires: the GPU is in use, or will be soon.
inline void note_gpu_memory(pinion::plan& made, const executable& part) {
  if (part.device->kernels() != devices::kernel_code::cuda) return;
  if (const std::int64_t peak = part.device->memory_peak(); peak > 0)
    made.add_note(fmt::format("{}: {} of {} bytes were in use at once so far, by all steps", part.device->name(), peak,
                              part.device->memory_limit()));
}

inline void note_segments(pinion::plan& made, const executable& part) {
  for (const auto& it : part.items)
    if (it.is_segment)
      if (const auto& of = static_cast<const segment&>(*it.kernel); !of.obstacle().empty())
        made.add_note(fmt::format("{}: {} were launched one by one in the last run, since {}", part.device->name(),
                                  of.name(), of.obstacle()));
}

}  // namespace detail

// A plan is asked for without feeds, so every step counts that yields the same.
PINION_DECL void direct_session::note_runs(pinion::plan& made, const step_signature& signature) const {
  const auto& devices = made.devices();
  if (recorder_ && std::any_of(devices.begin(), devices.end(), [](const device_info& d) { return d.is_cuda; }))
    made.add_note("GPUs launch the nodes one by one, since the session records their costs");
  for (const auto& step : ready_steps())
    if (step->fetches == signature.fetches && step->targets == signature.targets)
      for (const auto& part : step->compiled.parts()) {
        detail::note_arena(made, *part);
        detail::note_gpu_memory(made, *part);
        detail::note_segments(made, *part);
      }
}

PINION_DECL std::vector<std::shared_ptr<direct_session::ready_step>> direct_session::ready_steps() const {
  std::vector<std::shared_ptr<ready_step>> all;
  for (const step_table* const table : {&steps_, &partial_steps_})
    for (const auto& [signature, kept] : *table)
      if (kept->made && kept->made->ok()) all.push_back(kept->made->value());
  return all;
}

PINION_DECL memory_use direct_session::memory() {
  memory_use sum;
  sum.variables = task_.resources.bytes();
  sum.pool = devices::pool_allocator::of_cpus().held();
  std::lock_guard hold(mutex_);
  expect_open_held();
  for (const auto& step : ready_steps())
    for (const auto& part : step->compiled.parts()) {
      sum.arenas += static_cast<std::int64_t>(part->arenas->held.load());
      sum.live = std::max(sum.live, static_cast<std::int64_t>(part->arenas->live.load()));
    }
  return sum;
}

PINION_DECL pinion::measured_costs direct_session::measured_costs() {
  if (recorder_) return recorder_->costs();
  throw error(errc::failed_precondition, "the session records no costs; it is made with .record_costs = true");
}

PINION_DECL std::pair<any_tensor, std::string> direct_session::to_device(const any_tensor& value,
                                                                         const device_spec& where) {
  expect_open();
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
  expect_open_held();
  return task_.device_infos();
}

PINION_DECL void direct_session::cancel_steps(const error& why) {
  running_.fail_all(why);
  fail_partial_runs(why);
}

PINION_DECL void direct_session::close(source_location where) {
  std::unique_lock hold(mutex_);
  if (!closed_) closed_at_ = where;
  closed_ = true;
  made_.notify_all();
  running_.fail_all(closed_meanwhile());
  hold.unlock();
  fail_partial_runs(closed_meanwhile());
  hold.lock();
  const auto none = [this] { return running_.none() && at_work_ == 0 && partial_runs_.empty(); };
  pinion::detail::wait_and_say([&](auto time) { return idle_.wait_for(hold, time, none); },
                               [this] { return "a session that is closed waits for " + what_runs(); });
  steps_.clear();
  partial_steps_.clear();
  kernels_->clear();
  task_.resources.clear();
}

PINION_DECL void direct_session::start_libraries_of_new_nodes() {
  const graph& g = expect_graph();
  start_libraries(g, std::exchange(seen_, g.size()));
}

PINION_DECL void direct_session::expect_open() const {
  if (!closed_) return;
  std::lock_guard hold(mutex_);
  expect_open_held();
}

PINION_DECL void direct_session::expect_open_held() const {
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
  if (of_.closed_) throw closed_meanwhile();
  ++of_.at_work_;
}

PINION_DECL direct_session::at_work::~at_work() {
  std::lock_guard hold(of_.mutex_);
  --of_.at_work_;
  of_.idle_.notify_all();
}

PINION_DECL direct_session::under_way::under_way(direct_session& of, step_state& state, const ready_step& step)
    : of_(of) {
  run_.emplace(of.running_, state, step);
  if (!of.closed_) return;
  run_.reset();
  std::lock_guard hold(of.mutex_);
  of.idle_.notify_all();
  throw closed_meanwhile();
}

PINION_DECL direct_session::under_way::~under_way() {
  run_.reset();
  if (!of_.closed_) return;
  std::lock_guard hold(of_.mutex_);  // close() is between its look at the runs and its wait, or waits
  of_.idle_.notify_all();
}

PINION_DECL std::string direct_session::what_runs() const {
  const auto [count, first] = running_.what_runs();
  if (!first && !partial_runs_.empty()) return "a partial run, in which a kernel runs on though it was cancelled";
  if (!first) return "a step that another thread makes ready";
  const std::string others = count == 1 ? "" : " and " + std::to_string(count - 1) + " more";
  const auto& step = static_cast<const ready_step&>(*first);
  graph* const g = graph_.get();
  return "the step of " + (g ? detail::names_of(*g, step.fetches, step.targets) : "a graph that is gone") + others +
         ", in which a kernel runs on though it was cancelled";
}

PINION_DECL cost_model direct_session::with_measurements(const placement& placed) const {
  cost_model m = costs_of(placed);
  m.receive_ahead = options_.receive_ahead;
  if (recorder_) m.measured.merge(recorder_->costs());
  return m;
}

PINION_DECL std::shared_ptr<direct_session::ready_step> direct_session::await(const kept_step& step,
                                                                              std::unique_lock<std::mutex>& hold) {
  made_.wait(hold, [&] { return step.made || closed_; });
  if (closed_) throw closed_meanwhile();
  return step.made->value();
}

PINION_DECL outcome<std::shared_ptr<direct_session::ready_step>> direct_session::make(const step_signature& signature,
                                                                                      bool partial) {
  return outcome_of([&] {
    const at_work here(*this);
    return compile(signature, partial);
  });
}

PINION_DECL placement direct_session::place(const step_signature& signature) {
  start_libraries_of_new_nodes();
  return placed_.place(expect_graph(), signature, task_.device_infos());
}

PINION_DECL placement direct_session::place_to_run(const step_signature& signature) {
  placement placed = place(signature);
  const auto fresh = placed_.run(signature);
  if (options_.log_device_placement)
    for (const auto& line : placement_lines(expect_graph(), placed, fresh)) log_placement(options_, line);
  return placed;
}

PINION_DECL std::shared_ptr<direct_session::ready_step> direct_session::compile(const step_signature& signature,
                                                                                bool partial) {
  std::unique_lock one_places(placing_);
  const placement placed = place_to_run(signature);
  one_places.unlock();
  const fitted_step made =
      detail::fitted(expect_graph(), signature, placed, options_.memory_limit,
                     [&](bool spares_memory) { return improved(signature, placed, spares_memory); });
  if (!made.fits) write_log(log_level::warning, "", made.told);
  const optimized_step& better = made.step;
  const graph_view g = better.in_place_of(expect_graph());
  auto parts = cut_by_device(g, better.placement, better.signature, 0,
                             {.receive_ahead = options_.receive_ahead, .tell_targets = partial});
  if (partial) local_partial_run::make_partial(parts, better.signature);
  const std::shared_ptr<body_compiler> bodies =
      signature.check_values ? std::make_shared<session_bodies>(task_, kernels_, options_.allow_soft_placement, true)
                             : bodies_;
  auto step = std::make_shared<ready_step>(std::move(parts), g, task_, *kernels_, bodies);
  step->graph = better.graph;
  step->fetches = signature.fetches;
  step->targets = signature.targets;
  return step;
}

PINION_DECL optimized_step direct_session::improved(const step_signature& signature, const placement& placed,
                                                    bool spares_memory) const {
  if (!options_.optimize || options_.record_costs || signature.check_values) return {nullptr, placed, signature};
  return optimize(expect_graph(), placed, signature, spares_memory);
}

}}}  // namespace pinion::v0::runtime
