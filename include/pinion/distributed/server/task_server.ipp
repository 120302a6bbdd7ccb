// Bodies of <pinion/distributed/server/task_server.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <pinion/base/countdown.hpp>
#include <pinion/base/harmless.hpp>
#include <pinion/base/insist.hpp>
#include <pinion/base/log.hpp>
#include <pinion/base/stop_signal.hpp>
#include <pinion/distributed/master/local_masters.hpp>
#include <pinion/distributed/server/draining.hpp>
#include <pinion/distributed/server/spare_memory.hpp>
#include <pinion/distributed/server/task_server.hpp>
#include <pinion/distributed/wire/task_name.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/rpc/asio_io.hpp>
#include <pinion/rpc/security.hpp>
#include <pinion/runtime/backend.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL task_server::task_server(std::shared_ptr<rpc::network> net, const cluster_spec& cluster,
                                     const server_options& options, std::unique_ptr<rpc::listener> bound,
                                     std::optional<server_threads> threads)
    : net_(std::move(net)),
      job_(job_of(cluster, options)),
      me_{task_name(job_, options.task), rpc::new_incarnation(), rpc::credentials_of(security_of(options))},
      listener_(bound ? std::move(bound) : listen_on(*net_, cluster.address(job_, options.task), options, me_.shows)),
      address_(address_of_task(cluster.address(job_, options.task), *listener_)),
      threads_(threads ? *threads : threads_of(cluster, job_, options)),
      limits_(options.config.limits),
      task_(task_options_of(options, me_.name, threads_)),
      kept_(task_, me_.name, options.config.keep),
      peers_(*net_, cluster, way_options_of(options, me_, traffic_, address_, slabs_)),
      exchange_(*net_, me_.name, peers_, task_.pool, exchange_options_of(options.config)),
      worker_(*net_, me_.name, me_.incarnation, task_, exchange_, builders_, alarms_, options.config.limits),
      grace_(bounded(options.config.grace)),
      stop_timeout_(bounded(options.config.stop_timeout)),
      quotas_(me_.name, limits_),
      builders_(threads_.builders, threads_.builders),
      alarms_(threads_.alarms),
      calls_(limits_.threads),
      master_(std::make_shared<master>(master_services{*net_, me_.name, me_.incarnation, peers_, exchange_, worker_,
                                                       std::make_shared<step_counts>(net_->now()),
                                                       options.config.placer, limits_})),
      acceptor_(std::make_shared<rpc::acceptor>(*net_, std::move(listener_),
                                                acceptor_options_of(options, me_, traffic_, worker_.failures(), slabs_),
                                                service())) {
  tell_of_certificate(me_);
  local_masters::instance().add(address_, me_.shows, master_);
  if (options.config.elastic) introductions_.emplace(*net_, peers_, me_.name);
  acceptor_->start();
  net_->spawn(sweep(this, sweeper_, swept_));
  start_libraries();
  kept_.settle();
  if (introductions_) introductions_->announce();
}

PINION_DECL task_server::~task_server() {
  stop();
  end_calls(time_point::max());
  if (stopper_.joinable()) stopper_.join();
}

PINION_DECL void task_server::join() {
  {
    const stop_listener signals(stop_stage::serves, [this](int) { drains_ = true, ask_to_stop(); });
    net_->wait(asked_, {});
  }
  if (drains_) drain();
  stop();
  kept_.expect_written();
}

PINION_DECL bool task_server::drain() {
  return draining({*net_, *master_, worker_, exchange_, peers_, *acceptor_}, me_.name).wait(grace_);
}

PINION_DECL bool task_server::stop(rpc::task_state as) {
  ask_to_stop();
  std::lock_guard one_at_a_time(stopping_);
  if (std::exchange(stopped_, true)) return all_ended_;
  farewell_ = rpc::farewell(me_.name, as);
  leaves_ = true;
  const error& why = farewell_;
  const time_point began = std::chrono::steady_clock::now(), until = began + stop_timeout_;
  local_masters::instance().remove(address_);
  const bool unused = master_->stop(why, until);
  std::string still_runs = worker_.stop(why, until);
  const bool answered = end_calls(until);
  // A report that looks at a variable lets it go at once, and is waited for where the time of the stop is over, too.
  const bool kept = kept_.write(std::max(until, std::chrono::steady_clock::now() + keeping_wait));
  acceptor_->stop(why, [this, why] {
    peers_.close(why);
    *swept_ = true;
    sweeper_->cancel();
  });
  if (!rpc::settle(*net_, net_->now() + max_network_wait)) still_runs = "what holds up the network's thread";
  if (!kept && still_runs.empty()) still_runs = "what holds its variables";
  all_ended_ = end_calls(until) && answered && unused && still_runs.empty();  // including calls that came meanwhile
  if (!all_ended_) complain(still_runs, std::chrono::steady_clock::now() - began);
  return all_ended_;
}

PINION_DECL traffic_counts task_server::traffic() const {
  return counts_of(*traffic_);
}

PINION_DECL rpc::service task_server::service() {
  return {.request =
              [this](const rpc::envelope& e, rpc::responder answer, const rpc::peer_ref& from) {
                return request({e, from, std::make_shared<rpc::responder>(std::move(answer))});
              },
          .notice =
              [this](const rpc::envelope& e, const rpc::peer_ref& from) {
                return notice({e, from, {}});
              },
          .came = [this](const rpc::peer_ref& who) { came(who); },
          .gone = [this](const rpc::peer_ref& who, const error& why) { gone(who, why); },
          .hold = [this](auto bytes, const auto& who) { return quotas_.of_message(who->channel, bytes); }};
}

PINION_DECL task_server::opened task_server::request(const delivery& d) {
  static constexpr entry requests[] = {
      {status_request::method, &task_server::tell_status},
      {shutdown_request::method, &task_server::shut_down},
      {libraries_request::method, &task_server::tell_libraries},
      {report_request::method, &task_server::tell_all},
      {register_step::method, &task_server::keep_step, true, true},
      {register_known::method, &task_server::keep_known, true},
      {run_step::method, &task_server::run_kept},
      {progress_request::method, &task_server::tell_progress},
      {reset_containers::method, &task_server::reset_here},
      {pull_value::method, &task_server::send_value},
      {open_session::method, &task_server::open},
      {extend_graph::method, &task_server::extend, true, true},
      {extend_known::method, &task_server::extend_by_known},
      {prepare_step::method, &task_server::prepare, true},
      {plan_step::method, &task_server::plan, true},
      {list_request::method, &task_server::list_devices},
      {reset_request::method, &task_server::reset_cluster},
      {run_prepared::method, &task_server::run, true, true},
      {begin_partial_run::method, &task_server::start_partial_run},
      {continue_partial_run::method, &task_server::feed_partial_run, true, true},
  };
  if (const entry* const known = find(requests, d.envelope)) return (this->*known->handle)(d);
  d.answer->fail(error(errc::unimplemented, me_.name + " knows no method " + std::to_string(d.envelope.method)));
  return nullptr;
}

PINION_DECL const task_server::entry* task_server::find(std::span<const entry> all, const rpc::envelope& e) {
  constexpr std::size_t longest = 2 * rpc::long_control;  // the key of a value and the name of a master, and no more
  const auto known = std::find_if(all.begin(), all.end(), [&](const entry& one) { return one.method == e.method; });
  if (known == all.end()) return nullptr;
  if (!known->may_be_long && e.control.size() > longest)
    throw error(errc::data_loss, "a message of method " + std::to_string(e.method) + " has " +
                                     std::to_string(e.control.size()) + " bytes of control; the limit is " +
                                     std::to_string(longest));
  if (!known->has_payload && e.payload > 0)
    throw error(errc::data_loss, "a message of method " + std::to_string(e.method) + " has " +
                                     std::to_string(e.payload) + " bytes of payload, and takes none");
  return &*known;
}

// ---- requests to the task

PINION_DECL task_server::opened task_server::tell_status(const delivery& d) {
  return on<status_request>(d, [this](auto&&) { return status_reply{worker_.devices()}; });
}

PINION_DECL task_server::opened task_server::shut_down(const delivery& d) {
  return on<shutdown_request>(d, [this](auto&&) {
    net_->post([this] { stop_beside(); });
    return shutdown_reply{to_ms(grace_ + stop_timeout_)};
  });
}

PINION_DECL task_server::opened task_server::tell_libraries(const delivery& d) {
  return waiting<libraries_request>(d, [this](auto&&) { return libraries_reply{worker_.libraries()}; });
}

PINION_DECL task_server::opened task_server::tell_all(const delivery& d) {
  return waiting<report_request>(d, [this](auto&&) { return report_reply{report()}; });
}

// ---- requests to the worker

PINION_DECL task_server::opened task_server::run_kept(const delivery& d) {
  return rpc::receive<run_step>(d.envelope, [this, answer = d.answer, from = d.peer](run_step&& r) {
    or_fail(answer, [&] {
      worker_.run(
          r, requester_of(from), {}, 0, worker::begin_in::pool,
          [this, answer, session = r.run.session](run_result ran) {
            if (failed_without_trace(ran)) return answer->fail(*ran.failure);
            answer->reply_with([&] {
              return rpc::encode(
                  part_ended{worker_.take_notices(session), std::move(ran.trace), ran.failure, ran.holds});
            });
          },
          quotas_.of_run_of_task(from->channel));
    });
  });
}

PINION_DECL task_server::opened task_server::tell_progress(const delivery& d) {
  return on<progress_request>(
      d, [this, from = d.peer](progress_request&& p) { return worker_.progress_of(p.run, requester_of(from)); });
}

PINION_DECL task_server::opened task_server::reset_here(const delivery& d) {
  return on<reset_containers>(d, [this](reset_containers&& r) {
    worker_.reset(r.containers);
    return nothing{};
  });
}

PINION_DECL task_server::opened task_server::send_value(const delivery& d) {
  return exchange_.pulled(d.envelope, d.peer, d.answer);
}

// ---- requests to the master

PINION_DECL task_server::opened task_server::open(const delivery& d) {
  return on<open_session>(d, [this, from = d.peer](open_session&& o) {
    const auto session = master_->open({o.soft, std::move(o.filters), o.optimize, {o.receive_ahead, o.narrow}},
                                       from->channel, from->address);
    try {
      sessions_of_[from->channel].insert(session->handle());
    } catch (...) {
      let_go(master_->close(session->handle(), current_error()));
      throw;
    }
    return opened_session{session->handle()};
  });
}

PINION_DECL task_server::opened task_server::prepare(const delivery& d) {
  return waiting<prepare_step>(d, [this, from = d.peer](prepare_step&& p) {
    return master_->find(p.session, from->channel)
        ->prepare(p.signature, {from_ms(p.startup_ms), from_ms(p.max_wait_ms)}, {p.lines, p.partial});
  });
}

PINION_DECL task_server::opened task_server::plan(const delivery& d) {
  return waiting<plan_step>(d, [this, from = d.peer](plan_step&& p) {
    return plan_reply{
        master_->find(p.session, from->channel)->plan(p.signature, {from_ms(p.startup_ms), from_ms(p.max_wait_ms)})};
  });
}

PINION_DECL task_server::opened task_server::list_devices(const delivery& d) {
  return waiting<list_request>(d, [this, from = d.peer](list_request&& l) {
    return list_reply{master_->find(l.session, from->channel)->devices({.startup = from_ms(l.startup_ms)})};
  });
}

PINION_DECL task_server::opened task_server::reset_cluster(const delivery& d) {
  return waiting<reset_request>(d, [this](reset_request&& r) {
    master_->reset(r.containers);
    return nothing{};
  });
}

// ---- notices

PINION_DECL task_server::opened task_server::notice(const delivery& d) {
  static constexpr entry notices[] = {
      {push_value::method, &task_server::take_value, true, true},
      {announce_value::method, &task_server::hear_of_value},
      {return_credit::method, &task_server::take_credit},
      {cancel_run::method, &task_server::cancel},
      {settle_run::method, &task_server::hear_of_end},
      {introduce_task::method, &task_server::hear_of_task},
      {forget_session::method, &task_server::forget},
      {cancel_runs::method, &task_server::cancel_session},
      {close_session::method, &task_server::close},
      {end_partial_run::method, &task_server::forget_partial_run},
  };
  if (const entry* const known = find(notices, d.envelope)) return (this->*known->handle)(d);
  throw error(errc::unimplemented, me_.name + " knows no notice " + std::to_string(d.envelope.method));
}

PINION_DECL task_server::opened task_server::take_value(const delivery& d) {
  return exchange_.pushed(d.envelope, d.peer);
}

PINION_DECL task_server::opened task_server::hear_of_value(const delivery& d) {
  return exchange_.announced(d.envelope, d.peer);
}

PINION_DECL task_server::opened task_server::take_credit(const delivery& d) {
  return exchange_.credited(d.envelope, d.peer);
}

PINION_DECL task_server::opened task_server::cancel(const delivery& d) {
  return rpc::receive<cancel_run>(
      d.envelope, [this, from = d.peer](cancel_run&& c) { worker_.cancel(c.run, c.why, requester_of(from)); });
}

PINION_DECL task_server::opened task_server::hear_of_end(const delivery& d) {
  return rpc::receive<settle_run>(d.envelope,
                                  [this, from = d.peer](settle_run&& s) { worker_.settle(s.run, requester_of(from)); });
}

PINION_DECL task_server::opened task_server::hear_of_task(const delivery& d) {
  return rpc::receive<introduce_task>(d.envelope, [this, from = d.peer](introduce_task&& of) {
    if (introductions_ && peers_.knows(from->name)) introductions_->heard(of, from->name);
  });
}

PINION_DECL task_server::opened task_server::forget(const delivery& d) {
  return rpc::receive<forget_session>(
      d.envelope, [this, from = d.peer](forget_session&& f) { worker_.forget_session(f.session, requester_of(from)); });
}

PINION_DECL task_server::opened task_server::cancel_session(const delivery& d) {
  return rpc::receive<cancel_runs>(d.envelope, [this, from = d.peer](cancel_runs&& c) {
    if (is_of(from, c.session)) master_->cancel_steps(c.session, c.why);
  });
}

PINION_DECL task_server::opened task_server::close(const delivery& d) {
  return rpc::receive<close_session>(d.envelope, [this, from = d.peer](close_session&& c) {
    if (!is_of(from, c.session)) return;
    let_go(master_->close(c.session, runtime::closed_meanwhile()));
    sessions_of_[from->channel].erase(c.session);  // last: what no memory is left to close, gone() closes
  });
}

PINION_DECL void task_server::learn_of(const rpc::peer& who) {
  const claim what{who.reached_at, who.incarnation, who.spec};
  const bool is_news = !peers_.has_said(who.name, what);
  const std::string why = peers_.learn(who.name, what, who.channel);
  if (!why.empty()) return disbelieved_.add(who.address, why, why, net_->now());
  if (is_news) introductions_->came(who.name);
}

PINION_DECL void task_server::gone(const rpc::peer_ref& who, const error& why) {
  insist([&] { exchange_.gone(who, why); });
  if (quotas_.forget(who->channel)) let_go_ = sweeps_to_free;
  calls_.drop(who->channel);
  error lost(errc::cancelled, "");
  insist([&] { lost = error(errc::cancelled, "its client is gone: " + why.sentence()); });
  worker_.forget_owner(who->channel, lost);
  if (const auto theirs = sessions_of_.extract(who->channel))
    for (const auto handle : theirs.mapped()) let_go(master_->close(handle, lost));
  peers_.unlearn(who->name, who->channel);
  if (who->name.empty() || acceptor_->serves(who->name)) return;
  insist([&] { worker_.tell_lost(who->name, why); });
  peers_.forget(who->name);
}

PINION_DECL void task_server::let_go(std::shared_ptr<master_session> closed) {
  if (!closed) return;
  let_go_ = sweeps_to_free;
  const auto line = closed->handle();
  insist([&] { builders_.drop(line); });
  insist([&] { builders_.add(line, [closed] { closed->let_go(); }); });
}

PINION_DECL bool task_server::is_of(const rpc::peer_ref& who, std::uint64_t session) const {
  const auto at = sessions_of_.find(who->channel);
  return at != sessions_of_.end() && at->second.count(session) > 0;
}

PINION_DECL void task_server::settle(const answer_ref& answer, const outcome<>& how) {
  if (how)
    answer->reply(rpc::message());
  else
    answer->fail(*how.failure());
}

PINION_DECL void task_server::refuse_unread(const answer_ref& answer, const error& why) const {
  if (why.code() != errc::resource_exhausted) return answer->hang_up(why);
  const auto told = outcome_of([&] {
    answer->fail(error(why.code(), why.sentence() + " in " + me_.name + " (server_config.limits.session_bytes)"));
  });
  if (!told) answer->fail(why);
}

PINION_DECL quotas::share task_server::hold(const delivery& d) {
  return quotas_.of_message(d.peer->channel, d.envelope.control.size() + d.envelope.payload);
}

PINION_DECL deadline task_server::until(std::uint64_t ms) const {
  return after(*net_, from_ms(ms));
}

PINION_DECL rpc::awaitable<void> task_server::sweep(task_server* self, std::shared_ptr<rpc::timer> timer,
                                                    std::shared_ptr<bool> stopped) {
  for (int n = 1; co_await timer->wait_until(self->net_->now() + std::chrono::seconds(1)); ++n) {
    if (*stopped) co_return;                                                // self may be gone
    static_cast<void>(outcome_of([&] { self->sweep_once(n % 10 == 0); }));  // what failed is done by the next
  }
}

PINION_DECL void task_server::sweep_once(bool frees) {
  master_->say_long_runs();
  disbelieved_.tell_rest(net_->now());
  if (introductions_) introductions_->sweep();
  if (exchange_.sweep()) let_go_ = std::max(let_go_, 1);
  if (!frees) return;
  builders_.add(0, [graphs_too = let_go_ > 0] { give_spare_memory_back(graphs_too); });
  let_go_ = std::max(let_go_ - 1, 0);
}

PINION_DECL task_report task_server::report() {
  struct answer {
    countdown told;
    told_by_network net;
    outcome<> how;
  };
  const auto from_network = std::make_shared<answer>();
  net_->post([from_network, this] {
    from_network->how = outcome_of([&] { from_network->net = told_by_network_now(); });
    from_network->told.count_down();
  });
  if (!net_->wait(from_network->told, net_->now() + max_network_wait))
    throw error(errc::unavailable, "the network's thread is busy or held up").in_task(me_.name);
  from_network->how.value();
  return tells_.report(std::move(from_network->net));
}

PINION_DECL client_report task_server::report_of(const rpc::peer_use& one) const {
  constexpr std::size_t longest = 200;  // of a name; a client may claim any
  const auto held = quotas_.by(one.who->channel);
  const auto sessions = sessions_of_.find(one.who->channel);
  return {.address = one.who->address,
          .task = harmless(one.who->name, longest),
          .silence = std::chrono::duration<double>(one.silence).count(),
          .connections = one.connections,
          .runs = held.runs,
          .sessions = sessions == sessions_of_.end() ? 0 : sessions->second.size(),
          .bytes_received = held.bytes,
          .bytes_waiting = one.bytes_waiting,
          .slabs = one.shared.shown.slabs,
          .slab_bytes = one.shared.shown.bytes,
          .bytes_lent = one.shared.lent};
}

PINION_DECL told_by_network task_server::told_by_network_now() const {
  told_by_network all{
      .backlog = {.clients = acceptor_->clients(),
                  .metrics_clients = metrics_clients_,
                  .bytes_waiting = acceptor_->bytes_waiting(),
                  .bytes_received = quotas_.bytes(),
                  .lines_untold = acceptor_->refusals_untold() + master_->long_runs_untold() + disbelieved_.untold()}};
  for (const rpc::peer_use& one : acceptor_->uses()) all.clients.push_back(report_of(one));
  return all;
}

PINION_DECL bool task_server::end_calls(time_point until) {
  return builders_.wait_until_idle(until) && calls_.join(until) && builders_.wait_until_idle(until);
}

PINION_DECL void task_server::complain(const std::string& still_runs, rpc::duration waited) const {
  const auto seconds = std::chrono::duration<double>(waited).count();
  write_log(log_level::error, me_.name,
            fmt::format("was stopped, but {} has not ended after {:.1f} s; it is left to itself",
                        still_runs.empty() ? "a call of one of its clients" : still_runs, seconds));
}

PINION_DECL void task_server::stop_beside() {
  if (stopper_.joinable()) return;
  stopper_ = std::thread([this] {
    drain();
    stop();
  });
}

PINION_DECL void task_server::ask_to_stop() {
  if (!asked_once_.exchange(true)) asked_.count_down();
}

}}}  // namespace pinion::v0::distributed
