// Bodies of <pinion/distributed/master/master_session.hpp>.
#pragma once

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <pinion/base/insist.hpp>
#include <pinion/distributed/master/master_session.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/runtime/optimize/optimize.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL master_session::master_session(master_services& services, std::uint64_t handle, session_owner owner,
                                           session_settings settings)
    : s_(services),
      in_use_(services.in_use),
      handle_(handle),
      owner_(std::move(owner)),
      soft_(settings.soft),
      optimize_(settings.optimize),
      transfers_(settings.transfers),
      placed_(services.place, parse_device(services.name), settings.soft),
      quota_(services.limits, services.name, owner_.client != 0, services.memory_of_all),
      counts_(services.net.now()),
      tasks_(services, std::move(settings.filters), [this] { expect_open(); }) {}

PINION_DECL bool master_session::is_open() const {
  std::lock_guard hold(mutex_);
  return !closed_;
}

PINION_DECL std::size_t master_session::runs() const {
  std::lock_guard hold(mutex_);
  return running_.size();
}

PINION_DECL session_report master_session::report() const {
  const time_point now = s_.net.now();
  const auto since = [now](time_point then) { return std::chrono::duration<double>(now - then).count(); };
  session_report all{.number = owner_.number,
                     .owner = owner_.address,
                     .age = since(counts_.began()),
                     .quiet = since(counts_.last()),
                     .memory = quota_.memory(),
                     .steps = counts_.report(now)};
  std::lock_guard hold(mutex_);
  all.steps.running = running_.size();
  return all;
}

PINION_DECL void master_session::extend(graph_delta delta, std::uint64_t memory) {
  const users::one using_server(in_use_);
  std::lock_guard one_at_a_time(building_);
  expect_sound();
  if (quota_.is_limited()) quota_.take_nodes(nodes_of(delta), memory);
  grow(memory,
       [&] { quota_.is_limited() ? apply_and_keep(std::move(delta), memory) : apply(*graph_, std::move(delta)); });
}

PINION_DECL void master_session::apply_and_keep(graph_delta delta, std::uint64_t memory) {
  kept_graphs& kept = s_.here.graphs();
  const imprint its = imprint_of(delta, kept.life());
  const node_id from = delta.from;
  auto gone = delta.gone;
  apply(*graph_, std::move(delta));
  held_ = extended(held_, its.of);
  if (!its.is_large()) return;
  known_delta known{extension_from(*graph_, from, std::move(gone)), memory};
  kept.add(held_, std::make_shared<const known_delta>(std::move(known)), memory,
           std::string(rpc::host_of_address(owner_.address)));
}

PINION_DECL bool master_session::extend_known(const fingerprint& delta) {
  const users::one using_server(in_use_);
  std::lock_guard one_at_a_time(building_);
  expect_sound();
  const fingerprint then = extended(held_, delta);
  const auto known = s_.here.graphs().find<known_delta>(then);
  if (!known) return false;
  quota_.take_nodes(nodes_of(known->delta), known->memory);
  grow(known->memory, [&] { repeat(*graph_, known->delta); });
  held_ = then;
  return true;
}

PINION_DECL prepared_reply master_session::prepare(const runtime::step_signature& signature, const call_limits& limits,
                                                   prepare_options how) {
  const users::one using_server(in_use_);
  prepared_reply reply;
  const auto step = placed(signature, after(s_.net, limits.startup), [&](const placement& where) {
    const auto fresh = placed_.run(signature);
    if (how.lines) reply.placed = placement_lines(replica(), where, fresh);
    return std::make_shared<session_step>(cut(improved(signature, where), how.partial));
  });
  reply.step = step->number;
  const std::uint64_t memory = step->memory();
  {
    std::lock_guard hold(mutex_);
    if (quota_.is_limited()) quota_.expect_room_for_step(steps_.size(), memory);
    quota_.take(memory);
  }
  try {
    ship(*step, parts::all, after(s_.net, limits.operation));
    std::lock_guard hold(mutex_);
    expect_open_held();
    steps_[step->number] = step;
  } catch (...) {
    quota_.give_back(memory);
    throw;
  }
  return reply;
}

PINION_DECL pinion::plan master_session::plan(const runtime::step_signature& signature, const call_limits& limits) {
  const users::one using_server(in_use_);
  const auto until = after(s_.net, limits.startup);
  placed(signature, until, [](const placement&) { return true; });  // all its tasks are known then
  tasks_.learn_libraries(after(s_.net, limits.operation));
  return placed(signature, until, [&](const placement& where) {
    const auto runs = improved(signature, where);
    cost_model costs = costs_of(where);
    costs.receive_ahead = transfers_.receive_ahead;
    auto made = explain(replica(), where, runs, tasks_.with_libraries(where.devices()), soft_, costs);
    return transfers_.narrow ? narrowed(made, runs) : made;
  });
}

PINION_DECL std::vector<device_info> master_session::devices(const call_limits& limits) {
  const users::one using_server(in_use_);
  expect_open();
  tasks_.learn(tasks_.all(), after(s_.net, limits.startup));
  return tasks_.devices();
}

PINION_DECL bool master_session::is_fresh(std::uint64_t number) const {
  const users::one using_server(in_use_);
  std::lock_guard hold(mutex_);
  const auto step = find(number);
  return std::all_of(step->parts.begin(), step->parts.end(), [&](const step_part& p) {
    if (p.task == s_.name) return true;
    const auto route = s_.peers.route_to(p.task);
    return route->up() && route->generation() == p.generation;
  });
}

PINION_DECL void master_session::refresh(std::uint64_t number, deadline until) {
  if (is_fresh(number)) return;
  const users::one using_server(in_use_);
  std::shared_ptr<session_step> step;
  {
    std::lock_guard hold(mutex_);
    step = find(number);
  }
  const int before = cancellations_.count();
  auto wait = tasks_.waits(until, operation_limit);
  wait.check = [&] { expect_open(), cancellations_.expect_no_more_than(before); };
  wait.what = [] { return "another run, which ships the lost parts of the step again"; };
  const patient_mutex::lock one_at_a_time(*step->shipping, s_.net, wait);
  ship(*step, parts::lost, until);
  cancellations_.expect_no_more_than(before);  // the run that waits for this was cancelled with those under way
}

PINION_DECL void master_session::run(std::uint64_t number, std::vector<any_tensor> feeds, bool trace, deadline until,
                                     worker::begin_in where, run_ended done) {
  const users::one using_server(in_use_);
  const auto entered = outcome_of([&] { return enter(number, feeds, done); });
  if (!entered) return done({.failure = entered.failure()});
  entered.value()->begin(std::move(feeds), trace, until, where);
}

PINION_DECL std::uint64_t master_session::begin_partial_run(std::uint64_t number, session_partial_run::share counted) {
  const users::one using_server(in_use_);
  std::unique_lock hold(mutex_);
  expect_open_held();
  const auto step = find(number);
  if (!step->is_partial()) throw error(errc::invalid_argument, "the step is not one of partial runs");
  const std::uint64_t run = ++last_run_;
  const auto partial = std::make_shared<session_partial_run>(s_, step, run_id{name(), run}, std::move(counted));
  const auto entered = enter(run, step, [partial](const run_result& how) { partial->ended(how); });
  if (const auto known = outcome_of([&] { partial_runs_.emplace(run, partial); }); !known) {
    running_.erase(run);
    known.value();
  }
  hold.unlock();
  partial->begin(entered);
  return run;
}

PINION_DECL std::shared_ptr<session_partial_run> master_session::partial_run(std::uint64_t number) const {
  std::lock_guard hold(mutex_);
  expect_open_held();
  const auto at = partial_runs_.find(number);
  if (at == partial_runs_.end()) throw error(errc::not_found, "the session has no such partial run");
  return at->second;
}

PINION_DECL void master_session::end_partial_run(std::uint64_t number) {
  std::unique_lock hold(mutex_);
  const auto over = partial_runs_.extract(number);
  hold.unlock();
  if (over) over.mapped()->fail(error(errc::cancelled, "the partial run was given up before all of it had run"));
}

PINION_DECL std::vector<std::string> master_session::take_notices() {
  std::lock_guard hold(mutex_);
  return std::exchange(notices_, {});
}

PINION_DECL std::map<std::uint64_t, std::shared_ptr<session_run>> master_session::under_way() const {
  std::lock_guard hold(mutex_);
  return running_;
}

PINION_DECL void master_session::say_long_runs(const few_lines::sink& say) {
  for (const auto& [number, r] : under_way())
    if (r->say_if_long(s_.net.now(), say)) return;
}

PINION_DECL void master_session::cancel_steps(const error& why) {
  cancellations_.add(why);
  for (const auto& [number, r] : under_way()) r->fail(why);
}

PINION_DECL void master_session::close(const error& why) {
  std::map<std::uint64_t, std::shared_ptr<session_run>> running;
  decltype(partial_runs_) forgotten;  // without the lock
  {
    std::lock_guard hold(mutex_);
    if (closed_) return;
    closed_ = pinion::detail::share(why);
    forgotten.swap(partial_runs_);
  }
  insist([&] { running = under_way(); });
  for (const auto& [number, r] : running) {
    r->fail(why);
    r->want_no_traces();
  }
  forget_on_tasks();
}

PINION_DECL void master_session::forget_on_tasks() {
  insist([&] { s_.here.forget_session(name()); });
  insist([&] {
    for (const auto& task : tasks_.met())
      if (task != s_.name)
        s_.peers.route_to(task)->notify(rpc::lane::data, forget_session::method, rpc::encode(forget_session{name()}));
  });
}

PINION_DECL void master_session::let_go() {
  decltype(steps_) none;
  {
    std::lock_guard hold(mutex_);
    none.swap(steps_);
  }
  // A thread that builds now was cancelled, and frees the session with its graph when it notices that.
  if (const std::unique_lock nobody_builds(building_, std::try_to_lock); nobody_builds) graph_.reset();
}

PINION_DECL void master_session::expect_open() const {
  std::lock_guard hold(mutex_);
  expect_open_held();
}

PINION_DECL void master_session::expect_open_held() const {
  if (closed_) pinion::detail::throw_shared(closed_);
  if (*s_.stopping) throw rpc::is_stopping(s_.name);
}

PINION_DECL void master_session::expect_sound() const {
  expect_open();
  if (failure_) throw *failure_;
}

PINION_DECL graph_view master_session::replica() const {
  return graph_view::of_settled(*graph_);
}

PINION_DECL void master_session::expect_fits(const runtime::step_signature& s) const {
  expect_sound();
  const graph_view g = replica();
  for (const auto* ends : {&s.feeds, &s.fetches})
    for (const auto& o : *ends)
      if (!g.contains(o.node) || o.index < 0 || o.index >= static_cast<int>(g[o.node].outputs.size()))
        throw error(errc::invalid_argument, "a step feeds or fetches an output that is not in its graph");
  std::set<std::pair<node_id, int>> fed;
  for (const auto& o : s.feeds)
    if (!fed.emplace(o.node, o.index).second)
      throw error(errc::invalid_argument, "'" + g[o.node].name + "' was fed twice")
          .at_node(g[o.node].name, g[o.node].op, to_string(g[o.node].where));
  for (const node_id t : s.targets)
    if (!g.contains(t)) throw error(errc::invalid_argument, "a step runs a node that is not in its graph");
}

PINION_DECL runtime::optimized_step master_session::improved(const runtime::step_signature& signature,
                                                             const placement& placed) const {
  if (!optimize_) return {nullptr, placed, signature};
  return runtime::optimize(replica(), placed, signature);
}

PINION_DECL session_step master_session::cut(const runtime::optimized_step& what, bool partial) {
  runtime::transfer_rules transfers = transfers_;
  transfers.tell_targets = partial;
  return cut_by_task(
      what.in_place_of(replica()), what.placement, what.signature, s_.name, name(), next_step_++,
      [this](const std::string& task) { return tasks_.incarnation_of(task); }, soft_, transfers);
}

PINION_DECL pinion::plan master_session::narrowed(const pinion::plan& p, const runtime::optimized_step& what) const {
  // Values with their sources and destinations.
  std::set<std::tuple<std::string, std::string_view, std::string_view>> all;
  const graph_view runs = what.in_place_of(replica());
  const auto pieces = runtime::cut_by_device(runs, what.placement, what.signature, 0, transfers_);
  for (const auto& piece : pieces)
    for (const auto& it : piece.items)
      if (it.kind == runtime::part_item::receive && it.narrow)
        all.emplace(output_name(runs[it.node], it.index), it.key.from(), it.key.to());
  plan_figures figures = p.figures();
  for (planned_transfer& t : figures.transfers) {
    const auto name = [&](int d) -> const std::string& { return p.devices()[static_cast<std::size_t>(d)].name; };
    if (!all.contains({t.value, name(t.from), name(t.to)})) continue;
    t.bytes /= 2;
    figures.notes.push_back(t.value + " goes from " + name(t.from) + " to " + name(t.to) + " as bfloat16");
  }
  return pinion::plan(p.devices(), p.nodes(), std::move(figures));
}

PINION_DECL std::optional<placement> master_session::place(const runtime::step_signature& signature) {
  try {
    return placed_.place(replica(), signature, tasks_.devices());
  } catch (const error& e) {
    const bool more = tasks_.met().size() < tasks_.all().size();
    if (e.code() != errc::invalid_argument || !more) throw;
  }
  return std::nullopt;
}

PINION_DECL void master_session::ship(session_step& step, parts which, deadline until) {
  const auto shipped = outcome_of([&] {
    for (step_part& part : step.parts)
      if (which == parts::all || is_lost(part)) ship(part, until);
  });
  if (!is_open()) forget_on_tasks();
  expect_open();
  shipped.value();
}

PINION_DECL bool master_session::is_lost(const step_part& part) {
  return part.task != s_.name && tasks_.meet_again(part.task) != part.generation;
}

PINION_DECL void master_session::ship(step_part& part, deadline until) {
  if (part.task == s_.name) {
    wait_for<void>(s_.net, tasks_.waits(until, operation_limit),
                   [&](auto done) { s_.here.registrar().register_step({}, part.message, 0, done); });
    return;
  }
  const auto generation = tasks_.meet_again(part.task);
  if (!ship_known(part, until)) tasks_.ask<nothing>(part.task, part.message, until);
  std::lock_guard hold(mutex_);
  part.generation = generation;
}

PINION_DECL bool master_session::ship_known(const step_part& part, deadline until) {
  const register_step& all = part.message;
  const imprint its = imprint_of(all.part, tasks_.incarnation_of(part.task));
  if (!its.is_large()) return false;
  const register_known request{all.session, all.step, its.of, all.part.parts, all.peers, all.soft};
  return tasks_.ask<registered_known>(part.task, request, until).known;
}

PINION_DECL std::shared_ptr<session_run> master_session::enter(std::uint64_t number,
                                                               const std::vector<any_tensor>& feeds,
                                                               const run_ended& done) {
  std::lock_guard hold(mutex_);
  expect_open_held();
  const auto step = find(number);
  check_feeds(*step, std::span<const any_tensor>(feeds));
  return enter(++last_run_, step, done);
}

PINION_DECL std::shared_ptr<session_run> master_session::enter(std::uint64_t run,
                                                               const std::shared_ptr<const session_step>& step,
                                                               const run_ended& done) {
  const auto leave = [self = shared_from_this(), run](const shared_error& failure) {
    const time_point now = self->s_.net.now();
    self->counts_.ended(!failure, now);
    self->s_.steps->ended(!failure, now);
    if (failure) static_cast<void>(outcome_of([&] { self->s_.here.failures()->add_step(*failure); }));
    std::lock_guard held(self->mutex_);
    self->running_.erase(run);
  };
  const auto tell = [self = shared_from_this()](std::vector<std::string> notices) {
    std::lock_guard held(self->mutex_);
    constexpr std::size_t most = 256, longest = 4096;  // until the client takes them; workers say fewer, and shorter
    for (std::string& one : notices)
      if (self->notices_.size() < most && one.size() <= longest) self->notices_.push_back(std::move(one));
  };
  return running_[run] = std::make_shared<session_run>(s_, step, run_id{name(), run}, owner_.client, leave, tell, done);
}

PINION_DECL std::shared_ptr<session_step> master_session::find(std::uint64_t number) const {
  expect_open_held();
  const auto at = steps_.find(number);
  if (at == steps_.end()) throw error(errc::not_found, "the session has no such step");
  return at->second;
}

PINION_DECL void master_session::expect_feeds(std::uint64_t number, std::span<const described_value> feeds) const {
  std::lock_guard hold(mutex_);
  check_feeds(*find(number), feeds);
}

PINION_DECL void master_session::expect_feeds(std::uint64_t number, std::uint64_t bytes) const {
  std::lock_guard hold(mutex_);
  find(number)->expect_feeds_of(bytes);
}

template <class Value>
void master_session::check_feeds(const session_step& s, std::span<const Value> feeds) {
  if (s.is_partial()) throw error(errc::invalid_argument, "the step is one of partial runs");
  if (feeds.size() != s.feed_types.size())
    throw error(errc::invalid_argument, "the step takes " + std::to_string(s.feed_types.size()) + " feeds, not " +
                                            std::to_string(feeds.size()));
  for (std::size_t i = 0; i < feeds.size(); ++i) s.expect_feed(i, feeds[i]);
}

}}}  // namespace pinion::v0::distributed
