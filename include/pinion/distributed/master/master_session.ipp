// Bodies of <pinion/distributed/master/master_session.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/base/insist.hpp>
#include <pinion/distributed/master/master_session.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL master_session::master_session(master_services& services, std::uint64_t handle, session_owner owner,
                                           session_settings settings)
    : s_(services),
      in_use_(services.in_use),
      owner_(std::move(owner)),
      quota_(services.limits, services.name, owner_.client != 0, services.memory_of_all),
      runs_(services, {services.name, services.incarnation, handle}, owner_.client),
      tasks_(services, std::move(settings.filters), [this] { runs_.expect_open(); }),
      graph_(services, settings, runs_, tasks_, quota_, std::string(rpc::host_of_address(owner_.address))) {}

PINION_DECL session_report master_session::report() const {
  session_report all = runs_.report();
  all.number = owner_.number;
  all.owner = owner_.address;
  all.memory = quota_.memory();
  return all;
}

PINION_DECL void master_session::extend(graph_delta delta, std::uint64_t memory) {
  const users::one using_server(in_use_);
  graph_.extend(std::move(delta), memory);
}

PINION_DECL bool master_session::extend_known(const fingerprint& delta) {
  const users::one using_server(in_use_);
  return graph_.extend_known(delta);
}

PINION_DECL prepared_reply master_session::prepare(const runtime::step_signature& signature, const call_limits& limits,
                                                   prepare_options how) {
  const users::one using_server(in_use_);
  auto made = graph_.make(signature, after(s_.net, limits.startup), how);
  try {
    ship(*made.step, parts::all, after(s_.net, limits.operation));
    runs_.add(made.step);
  } catch (...) {
    quota_.give_back(made.step->memory());
    throw;
  }
  return {made.step->number, std::move(made.lines)};
}

PINION_DECL pinion::plan master_session::plan(const runtime::step_signature& signature, const call_limits& limits) {
  const users::one using_server(in_use_);
  return graph_.plan(signature, limits);
}

PINION_DECL std::vector<device_info> master_session::devices(const call_limits& limits) {
  const users::one using_server(in_use_);
  runs_.expect_open();
  tasks_.learn(tasks_.all(), after(s_.net, limits.startup));
  return tasks_.devices();
}

PINION_DECL bool master_session::is_fresh(std::uint64_t number) const {
  const users::one using_server(in_use_);
  const auto step = runs_.find(number);
  std::lock_guard hold(shipped_);
  return std::all_of(step->parts.begin(), step->parts.end(), [&](const step_part& p) {
    if (p.task == s_.name) return true;
    const auto route = s_.peers.route_to(p.task);
    return route->up() && route->generation() == p.generation;
  });
}

PINION_DECL void master_session::refresh(std::uint64_t number, deadline until) {
  if (is_fresh(number)) return;
  const users::one using_server(in_use_);
  const auto step = runs_.find(number);
  const int before = cancellations_.count();
  auto wait = tasks_.waits(until, operation_limit);
  wait.check = [&] { runs_.expect_open(), cancellations_.expect_no_more_than(before); };
  wait.what = [] { return "another run, which ships the lost parts of the step again"; };
  const patient_mutex::lock one_at_a_time(*step->shipping, s_.net, wait);
  ship(*step, parts::lost, until);
  cancellations_.expect_no_more_than(before);  // the run that waits for this was cancelled with those under way
}

PINION_DECL void master_session::run(std::uint64_t number, std::vector<any_tensor> feeds, bool trace, deadline until,
                                     worker::begin_in where, run_ended done) {
  const users::one using_server(in_use_);
  const auto entered = outcome_of([&] { return runs_.enter(shared_from_this(), number, feeds, done); });
  if (!entered) return done({.failure = entered.failure()});
  entered.value()->begin(std::move(feeds), trace, until, where);
}

PINION_DECL std::uint64_t master_session::begin_partial_run(std::uint64_t number, session_partial_run::share counted) {
  const users::one using_server(in_use_);
  return runs_.begin_partial_run(shared_from_this(), number, std::move(counted));
}

PINION_DECL void master_session::cancel_steps(const error& why) {
  cancellations_.add(why);
  runs_.fail(why);
}

PINION_DECL void master_session::close(const error& why) {
  if (runs_.close(why)) forget_on_tasks();
}

PINION_DECL void master_session::forget_on_tasks() {
  insist([&] { s_.here.forget_session(runs_.session()); });
  insist([&] {
    for (const auto& task : tasks_.met())
      if (task != s_.name)
        s_.peers.route_to(task)->notify(rpc::lane::data, forget_session::method,
                                        rpc::encode(forget_session{runs_.session()}));
  });
}

PINION_DECL void master_session::let_go() {
  const auto freed = runs_.let_go();
  graph_.let_go();
}

PINION_DECL void master_session::ship(session_step& step, parts which, deadline until) {
  const auto shipped = outcome_of([&] {
    for (step_part& part : step.parts)
      if (which == parts::all || is_lost(part)) ship(part, until);
  });
  if (!runs_.is_open()) forget_on_tasks();
  runs_.expect_open();
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
  std::lock_guard hold(shipped_);
  part.generation = generation;
}

PINION_DECL bool master_session::ship_known(const step_part& part, deadline until) {
  const register_step& all = part.message;
  const imprint its = imprint_of(all.part, tasks_.incarnation_of(part.task));
  if (!its.is_large()) return false;
  const register_known request{all.session, all.step, its.of, all.part.parts, all.peers, all.soft};
  return tasks_.ask<registered_known>(part.task, request, until).known;
}

}}}  // namespace pinion::v0::distributed
