// Bodies of <pinion/distributed/client/remote_session.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/countdown.hpp>
#include <pinion/base/log.hpp>
#include <pinion/distributed/client/remote_partial_run.hpp>
#include <pinion/distributed/client/remote_session.hpp>
#include <pinion/distributed/master/local_masters.hpp>
#include <pinion/rpc/security/security.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL client_way::client_way(const std::shared_ptr<rpc::network>& n, const std::string& address,
                                   const std::string& task, const rpc::credentials& shows)
    : net(n),
      route(std::make_shared<rpc::channel>(
          *net, address, task, rpc::channel_options{.me = {"", rpc::random_number(), shows}, .allowed = {}})) {}

PINION_DECL client_way::~client_way() {
  route->close(error(errc::cancelled, "the client is done with it"));
  rpc::settle(*net);
}

PINION_DECL void warn(const std::vector<std::string>& notices) {
  constexpr std::size_t most = 10;  // of one step: a master may send any number
  for (std::size_t i = 0; i < std::min(notices.size(), most); ++i) write_log(log_level::warning, "", notices[i]);
  if (notices.size() > most)
    write_log(log_level::warning, "", "there are " + std::to_string(notices.size() - most) + " more notices");
}

PINION_DECL prepared_reply local_port::prepare(const runtime::step_signature& s, const call_limits& limits,
                                               prepare_options how) {
  return session_->prepare(s, limits, how);
}

PINION_DECL run_result local_port::run(std::uint64_t step, std::vector<any_tensor> feeds, bool trace, deadline until) {
  session_->refresh(step, until);
  const auto running = std::make_shared<pending<run_result>>();
  session_->run(step, std::move(feeds), trace, until, worker::begin_in::this_thread,
                [running](run_result ran) { running->end(std::move(ran)); });
  await(running->ended, until);
  warn(session_->runs().take_notices());
  return std::move(*running->result);
}

PINION_DECL std::uint64_t local_port::begin_partial_run(std::uint64_t step, deadline until) {
  session_->refresh(step, until);
  return session_->begin_partial_run(step, nullptr);
}

PINION_DECL std::vector<any_tensor> local_port::continue_partial_run(std::uint64_t run, partial_call t,
                                                                     deadline until) {
  using values = outcome<std::vector<any_tensor>>;
  const auto taking = std::make_shared<pending<values>>();
  session_->runs().partial_run(run)->take(std::move(t), until, nullptr,
                                          [taking](values fetched) { taking->end(std::move(fetched)); });
  await(taking->ended, until);
  warn(session_->runs().take_notices());
  return std::move(*taking->result).value();
}

PINION_DECL void local_port::end_partial_run(std::uint64_t run) {
  if (const auto m = master_.lock()) m->end_partial_run(session_->handle(), run);
}

PINION_DECL void local_port::close() {
  if (const auto m = master_.lock())
    if (const auto session = m->close(session_->handle(), runtime::closed_meanwhile())) session->let_go();
}

PINION_DECL void local_port::await(countdown& ended, deadline until) const {
  if (ended.done()) return;
  std::optional<time_point> closed;
  while (!net_.wait(ended, net_.now() + std::chrono::milliseconds(100))) {
    const auto now = net_.now();
    if (until && now > *until + grace) throw stuck(errc::deadline_exceeded, operation_limit);
    if (!closed && !session_->runs().is_open()) closed = now;
    if (closed && now > *closed + grace) throw stuck(errc::cancelled, "the session was closed");
  }
}

PINION_DECL error local_port::stuck(errc code, const std::string& what) {
  return error(code, "the step did not end within " + std::to_string(grace.count()) + " s after " + what +
                         ": one of its kernels does not return; it is left to itself");
}

PINION_DECL wire_port::wire_port(std::shared_ptr<rpc::network> net, const std::string& address,
                                 const rpc::credentials& shows, session_settings settings, deadline startup,
                                 std::function<void()> check)
    : to_(std::move(net), address, "", shows) {
  connect_and_wait(*to_.net, to_.route,
                   {.what = {}, .until = startup, .check = std::move(check), .limit = startup_limit});
  const open_session request{settings.soft, std::move(settings.filters), settings.optimize,
                             settings.transfers.receive_ahead, settings.transfers.narrow};
  session_ = ask<opened_session>(request, startup, startup_limit).session;
}

PINION_DECL void wire_port::extend(graph_delta delta, deadline until) {
  const imprint its = imprint_of(delta, to_.route->incarnation());
  if (its.is_large() && ask<extended_known>(extend_known{session_, its.of}, until).known) return;
  ask<nothing>(extend_graph{session_, std::move(delta)}, until);
}

PINION_DECL prepared_reply wire_port::prepare(const runtime::step_signature& s, const call_limits& limits,
                                              prepare_options how) {
  const prepare_step request{session_, to_ms(limits.operation), s, how.lines, to_ms(limits.startup), how.partial};
  return ask<prepared_reply>(request, after_both(*to_.net, limits));
}

PINION_DECL pinion::plan wire_port::plan(const runtime::step_signature& s, const call_limits& limits) {
  const plan_step request{session_, to_ms(limits.operation), s, to_ms(limits.startup)};
  return ask<plan_reply>(request, after_both(*to_.net, limits)).plan;
}

PINION_DECL std::vector<device_info> wire_port::devices(const call_limits& limits) {
  const list_request request{session_, to_ms(limits.startup)};
  return ask<list_reply>(request, after(*to_.net, limits.startup), startup_limit).devices;
}

PINION_DECL run_result wire_port::run(std::uint64_t step, std::vector<any_tensor> feeds, bool trace, deadline until) {
  auto reply = ask<run_reply>(run_prepared{session_, step, left(until), std::move(feeds), trace}, until);
  warn(reply.notices);
  return {std::move(reply.fetches), std::move(reply.trace), std::move(reply.failure)};
}

PINION_DECL std::uint64_t wire_port::begin_partial_run(std::uint64_t step, deadline until) {
  return ask<partial_run_begun>(distributed::begin_partial_run{session_, step, left(until)}, until).run;
}

PINION_DECL std::vector<any_tensor> wire_port::continue_partial_run(std::uint64_t run, partial_call t, deadline until) {
  auto reply = ask<partial_run_continued>(
      distributed::continue_partial_run{session_, run, left(until), std::move(t.feeds), std::move(t.fetches),
                                        std::move(t.targets), std::move(t.values)},
      until);
  warn(reply.notices);
  return std::move(reply.fetches);
}

PINION_DECL void wire_port::end_partial_run(std::uint64_t run) {
  to_.route->notify(rpc::lane::data, distributed::end_partial_run::method,
                    rpc::encode(distributed::end_partial_run{session_, run}), rpc::urgency::now);
}

PINION_DECL void wire_port::cancel_steps(const error& why) {
  {
    std::lock_guard hold(mutex_);
    if (closed_) return;
  }
  cancellations_.add(why, to_.net->now());
  // The control lane is the faster one; on the other it comes behind the request of a run that it has overtaken.
  for (const auto lane : {rpc::lane::control, rpc::lane::data})
    to_.route->notify(lane, cancel_runs::method, rpc::encode(cancel_runs{session_, why}), rpc::urgency::now);
}

PINION_DECL void wire_port::close() {
  {
    std::lock_guard hold(mutex_);
    if (std::exchange(closed_, true)) return;
  }
  to_.route->notify(rpc::lane::data, close_session::method, rpc::encode(close_session{session_}), rpc::urgency::now);
}

PINION_DECL void wire_port::expect_open() const {
  std::lock_guard hold(mutex_);
  if (closed_) throw runtime::closed_meanwhile();
}

PINION_DECL void wire_port::expect_wanted(int cancellations_before, rpc::duration grace) const {
  expect_open();
  cancellations_.expect_no_more_than(cancellations_before, to_.net->now() - grace);
}

PINION_DECL std::uint64_t wire_port::left(deadline until) const {
  return until ? to_ms(*until - to_.net->now()) : 0;
}

PINION_DECL remote_session::remote_session(const session_options& options, graph& g, std::shared_ptr<rpc::network> net,
                                           std::chrono::milliseconds max_close_wait)
    : options_(options),
      shows_(rpc::credentials_of(options.security)),
      graph_(g),
      net_(std::move(net)),
      address_(address_of_target(options.target)),
      max_close_wait_(max_close_wait) {
  if (options.placer)
    throw error(errc::invalid_argument,
                "a session on a cluster is placed by the task it targets; give that server its "
                "placer: server_options.config.placer");
  if (options.record_costs)
    throw error(errc::unimplemented, "costs are recorded by sessions of one process, and this one is on a cluster");
  if (options.memory_limit > 0)
    throw error(errc::unimplemented,
                "a memory_limit is kept by sessions of one process, and this one is on a cluster; pn::recompute marks "
                "parts that are computed again everywhere");
}

PINION_DECL std::shared_ptr<runtime::prepared_step> remote_session::prepare(const runtime::step_signature& signature) {
  const users::one call(calls_);
  return options_.check_values ? prepared(steps_, checking(signature)) : prepared(steps_, signature);
}

PINION_DECL std::shared_ptr<remote_session::remote_step> remote_session::prepared(
    step_table& in, const runtime::step_signature& signature) {
  expect_open();
  const auto place = place_of(in, signature);
  if (auto known = step_in(*place)) return known;
  const int before = cancellations_.count();
  const auto made = make_step(*place, signature, &in == &partial_steps_);
  cancellations_.expect_no_more_than(before);  // the step that waits for this one was cancelled with those that run
  return made;
}

PINION_DECL std::shared_ptr<runtime::partial_run_backend> remote_session::begin_partial_run(
    const runtime::step_signature& signature) {
  const users::one call(calls_);
  const auto step = prepared(partial_steps_, options_.check_values ? checking(signature) : signature);
  const auto open = port();
  const std::uint64_t number = open->begin_partial_run(step->number, until());
  return std::make_shared<remote_partial_run>(net_, open, number, step->fetched, calls_, limits().operation);
}

PINION_DECL std::shared_ptr<remote_session::remote_step> remote_session::make_step(
    step_place& place, const runtime::step_signature& signature, bool partial) {
  const auto before = failure_of(place);
  const patient_mutex::lock one_makes_it(place.making, *net_,
                                         behind("makes the same step", after_both(*net_, limits()),
                                                "the session's startup_timeout and operation_timeout"));
  if (auto known = step_in(place)) return known;
  // Those who waited while another made it have its limit, too.
  if (const auto late = failure_of(place); late != before) throw error(*late);
  const auto reply = prepare_in(place, signature, partial);
  for (const auto& line : reply.placed) log_placement(options_, line);
  std::vector<output_type> fetched;
  for (const graph_view g(graph_); const output& o : signature.fetches) fetched.push_back(g.type_of(o));
  auto made = std::make_shared<remote_step>(reply.step, std::move(fetched));
  std::lock_guard hold(mutex_);
  return place.step = std::move(made);
}

PINION_DECL prepared_reply remote_session::prepare_in(step_place& place, const runtime::step_signature& signature,
                                                      bool partial) {
  try {
    const auto to = port();
    ship(*to);
    return to->prepare(signature, limits(), {options_.log_device_placement, partial});
  } catch (const error& e) {
    if (e.code() == errc::deadline_exceeded) {
      std::lock_guard hold(mutex_);
      place.late = std::make_shared<const error>(e);
    }
    throw;
  }
}

PINION_DECL void remote_session::run(runtime::prepared_step& step, std::span<any_tensor> feeds,
                                     std::span<any_tensor> results, step_trace* trace) {
  const users::one call(calls_);
  const auto& known = static_cast<remote_step&>(step);
  const auto open = port();
  run_result got =
      open->run(known.number, {std::make_move_iterator(feeds.begin()), std::make_move_iterator(feeds.end())},
                trace != nullptr, until());
  if (trace && !failed_without_trace(got)) {
    *trace = std::move(got.trace);
    trace->failure = got.failure ? got.failure->what() : "";
  }
  outcome<>(got.failure).value();
  expect_fetches(known.fetched, got.fetches);
  std::move(got.fetches.begin(), got.fetches.end(), results.begin());
}

PINION_DECL pinion::measured_costs remote_session::measured_costs() {
  throw error(errc::unimplemented, "costs are recorded by sessions of one process, and this one is on a cluster");
}

PINION_DECL memory_use remote_session::memory() {
  throw error(errc::unimplemented, "a session of one process tells its memory, and this one is on a cluster");
}

PINION_DECL std::pair<any_tensor, std::string> remote_session::to_device(const any_tensor&, const device_spec& where) {
  throw error(errc::unimplemented, "a value can be copied ahead to a device of this process, and " + to_string(where) +
                                       " belongs to a session on a cluster");
}

PINION_DECL pinion::plan remote_session::plan(const runtime::step_signature& signature) {
  const users::one call(calls_);
  expect_open();
  const auto to = port();
  ship(*to);
  return to->plan(options_.check_values ? checking(signature) : signature, limits());
}

PINION_DECL std::vector<device_info> remote_session::list_devices() {
  const users::one call(calls_);
  expect_open();
  return port()->devices(limits());
}

PINION_DECL void remote_session::cancel_steps(const error& why) {
  made_in_.expect("the session");
  cancellations_.add(why);
  std::shared_ptr<session_port> open;
  {
    std::lock_guard hold(mutex_);
    open = port_;
  }
  if (open) open->cancel_steps(why);
}

PINION_DECL void remote_session::close(source_location where) {
  std::shared_ptr<session_port> open;
  {
    std::lock_guard hold(mutex_);
    if (!std::exchange(closed_, true)) closed_at_ = where;
    open = std::exchange(port_, nullptr);
  }
  if (open) open->close();
  if (max_close_wait_.count() == 0) return;
  if (!calls_->wait_until_none(std::chrono::steady_clock::now() + max_close_wait_))
    write_log(log_level::error, "",
              "a session at " + address_ + " was closed, and a call of it has not ended; it is left to itself");
}

PINION_DECL std::shared_ptr<remote_session::step_place> remote_session::place_of(
    step_table& in, const runtime::step_signature& signature) {
  std::lock_guard hold(mutex_);
  auto& place = in[signature];
  if (!place) place = std::make_shared<step_place>();
  return place;
}

PINION_DECL std::shared_ptr<remote_session::remote_step> remote_session::step_in(const step_place& place) const {
  std::lock_guard hold(mutex_);
  return place.step;
}

PINION_DECL shared_error remote_session::failure_of(const step_place& place) const {
  std::lock_guard hold(mutex_);
  return place.late;
}

PINION_DECL call_limits remote_session::limits() const {
  const auto limit = [](std::chrono::milliseconds ms) {
    return ms.count() == 0 ? std::nullopt : std::optional<rpc::duration>(bounded(ms));
  };
  const auto startup = limit(options_.startup_timeout), operation = limit(options_.operation_timeout);
  return {startup ? startup : operation, operation};
}

PINION_DECL void remote_session::expect_open() const {
  made_in_.expect("the session");
  std::lock_guard hold(mutex_);
  if (closed_) throw error(errc::failed_precondition, "the session is closed").called_at(to_string(closed_at_));
}

PINION_DECL std::function<void()> remote_session::while_wanted() const {
  return [this, before = cancellations_.count()] {
    {
      std::lock_guard hold(mutex_);
      if (closed_) throw runtime::closed_meanwhile();
    }
    cancellations_.expect_no_more_than(before);
  };
}

PINION_DECL wait_options remote_session::behind(const std::string& what_it_does, deadline until,
                                                const std::string& limit) const {
  return {.what = [what_it_does] { return "another call, which " + what_it_does; },
          .until = until,
          .check = while_wanted(),
          .limit = limit};
}

PINION_DECL std::shared_ptr<session_port> remote_session::port() {
  made_in_.expect("the session");
  const auto known = [this] {
    std::lock_guard hold(mutex_);
    if (closed_) throw runtime::closed_meanwhile();
    return port_;
  };
  if (auto open = known()) return open;
  const auto wait = behind("opens the session at " + address_, after(*net_, limits().startup), startup_limit);
  const patient_mutex::lock one_opens(opening_, *net_, wait);
  if (auto open = known()) return open;
  auto opened = open(wait.until, wait.check);
  std::unique_lock hold(mutex_);
  if (!closed_) return port_ = std::move(opened);
  hold.unlock();
  opened->close();
  throw runtime::closed_meanwhile();
}

PINION_DECL std::shared_ptr<session_port> remote_session::open(deadline until, std::function<void()> check) {
  session_settings settings{options_.allow_soft_placement,
                            options_.device_filters,
                            options_.optimize,
                            {options_.receive_ahead, options_.bfloat16_transfers}};
  if (const auto here = local_masters::instance().find(address_, shows_))
    return std::make_shared<local_port>(here, std::move(settings));
  return std::make_shared<wire_port>(net_, address_, shows_, std::move(settings), until, std::move(check));
}

PINION_DECL void remote_session::ship(session_port& to) {
  const auto wait = behind("tells the master of nodes", until(), operation_limit);
  const patient_mutex::lock one_at_a_time(shipping_, *net_, wait);
  auto delta = delta_since(graph_, shipped_);
  if (delta.nodes.empty() && delta.gone.empty()) return;
  auto after = shipped_;
  after.add(delta);
  to.extend(std::move(delta), wait.until);
  shipped_ = std::move(after);
}

PINION_DECL void reset_remote(const std::shared_ptr<rpc::network>& net, const std::string& address,
                              const std::vector<std::string>& containers, const security_options& security) {
  const rpc::credentials shows = rpc::credentials_of(security);
  if (const auto here = local_masters::instance().find(address, shows)) return here->reset(containers);
  const deadline until = net->now() + std::chrono::seconds(30);
  client_way to(net, address, "", shows);
  connect_and_wait(*net, to.route, {.what = {}, .until = until});
  ask_and_wait<nothing>(*net, to.route, reset_request{containers}, {.what = {}, .until = until});
}

}}}  // namespace pinion::v0::distributed
