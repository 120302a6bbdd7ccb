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
#include <pinion/distributed/server/task_server.hpp>
#include <pinion/distributed/wire/task_name.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/transport/asio_io.hpp>
#include <pinion/runtime/backend.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL task_server::task_server(std::shared_ptr<rpc::network> net, const cluster_spec& cluster,
                                     const server_options& options, std::unique_ptr<rpc::listener> bound,
                                     std::optional<server_threads> threads)
    : task_server(threads ? *threads : threads_of(cluster, job_of(cluster, options), options), std::move(net), cluster,
                  options, std::move(bound)) {}

PINION_DECL task_server::task_server(const server_threads& threads, std::shared_ptr<rpc::network> net,
                                     const cluster_spec& cluster, const server_options& options,
                                     std::unique_ptr<rpc::listener> bound)
    : net_(std::move(net)),
      config_(options.config),
      me_{task_name(job_of(cluster, options), options.task), rpc::new_incarnation(),
          rpc::credentials_of(security_of(options))},
      place_(listen_for(std::move(bound), *net_, cluster, options, me_.shows)),
      counts_{.slabs = std::make_shared<rpc::slab_account>(slab_limits_of(config_.limits))},
      task_(task_options_of(options, me_.name, threads)),
      kept_(task_, me_.name, config_.keep),
      peers_(*net_, cluster, way_options_of(options, me_, counts_.traffic, place_.address, counts_.slabs)),
      exchange_(*net_, me_.name, peers_, task_.pool, exchange_options_of(config_)),
      worker_(*net_, me_.name, me_.incarnation, task_, exchange_, builders_, alarms_, config_.limits),
      members_(*net_, peers_, me_.name, config_.elastic),
      builders_(threads.builders, threads.builders),
      alarms_(threads.alarms),
      reader_(me_.name, config_.limits, builders_),
      master_(std::make_shared<master>(master_services{*net_, me_.name, me_.incarnation, peers_, exchange_, worker_,
                                                       std::make_shared<step_counts>(net_->now()), config_.placer,
                                                       config_.limits})),
      to_{.worker = worker_service(worker_, exchange_, reader_),
          .master = master_service(master_, reader_, builders_, spare_)},
      acceptor_(std::make_shared<rpc::acceptor>(
          *net_, std::move(place_.listener),
          acceptor_options_of(options, me_, counts_.traffic, worker_.failures(), counts_.slabs), service())) {
  tell_of_certificate(me_);
  local_masters::instance().add(place_.address, me_.shows, master_);
  acceptor_->start();
  net_->spawn(sweep(this, end_.sweeper, end_.swept));
  start_libraries();
  kept_.settle();
  members_.announce();
}

PINION_DECL task_server::~task_server() {
  stop();
  reader_.wait_until_idle(time_point::max());
  if (end_.stopper.joinable()) end_.stopper.join();
}

PINION_DECL void task_server::join() {
  {
    const stop_listener signals(stop_stage::serves, [this](int) { end_.drains = true, ask_to_stop(); });
    net_->wait(end_.asked, {});
  }
  if (end_.drains) drain();
  stop();
  kept_.expect_written();
}

PINION_DECL bool task_server::drain() {
  return draining({*net_, *master_, worker_, exchange_, peers_, *acceptor_}, me_.name).wait(bounded(config_.grace));
}

PINION_DECL bool task_server::stop(rpc::task_state as) {
  ask_to_stop();
  std::lock_guard one_at_a_time(end_.one_at_a_time);
  if (std::exchange(end_.stopped, true)) return end_.all_ended;
  const error why = rpc::farewell(me_.name, as);
  reader_.close(why);
  const time_point began = std::chrono::steady_clock::now(), until = began + bounded(config_.stop_timeout);
  local_masters::instance().remove(place_.address);
  const bool unused = master_->stop(why, until);
  std::string still_runs = worker_.stop(why, until);
  const bool answered = reader_.wait_until_idle(until);
  // A report that looks at a variable lets it go at once, and is waited for where the time of the stop is over, too.
  const bool kept = kept_.write(std::max(until, std::chrono::steady_clock::now() + keeping_wait));
  acceptor_->stop(why, [this, why] {
    peers_.close(why);
    *end_.swept = true;
    end_.sweeper->cancel();
  });
  if (!rpc::settle(*net_, net_->now() + max_network_wait)) still_runs = "what holds up the network's thread";
  if (!kept && still_runs.empty()) still_runs = "what holds its variables";
  end_.all_ended =
      reader_.wait_until_idle(until) && answered && unused && still_runs.empty();  // with calls that came meanwhile
  if (!end_.all_ended) complain(still_runs, std::chrono::steady_clock::now() - began);
  return end_.all_ended;
}

PINION_DECL traffic_counts task_server::traffic() const {
  return counts_of(*counts_.traffic);
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
          .hold = [this](auto bytes, const auto& who) { return reader_.of_clients().of_message(who->channel, bytes); }};
}

PINION_DECL opened task_server::request(const delivery& d) {
  if (auto taken = own_request(d)) return std::move(*taken);
  if (auto taken = to_.worker.request(d)) return std::move(*taken);
  if (auto taken = to_.master.request(d)) return std::move(*taken);
  d.answer->fail(error(errc::unimplemented, me_.name + " knows no method " + std::to_string(d.envelope.method)));
  return nullptr;
}

PINION_DECL opened task_server::notice(const delivery& d) {
  if (auto taken = to_.worker.notice(d)) return std::move(*taken);
  if (auto taken = to_.master.notice(d)) return std::move(*taken);
  if (auto taken = members_.notice(d)) return std::move(*taken);
  throw error(errc::unimplemented, me_.name + " knows no notice " + std::to_string(d.envelope.method));
}

PINION_DECL std::optional<opened> task_server::own_request(const delivery& d) {
  using self = task_server;
  static constexpr handler<self> requests[] = {
      {status_request::method, &self::tell_devices},
      {libraries_request::method, &self::tell_libraries},
      {report_request::method, &self::tell_all},
      {shutdown_request::method, &self::shut_down},
  };
  return hand_to<self>(*this, requests, d);
}

PINION_DECL opened task_server::tell_devices(const delivery& d) {
  return on<status_request>(d, [this](auto&&) { return status_reply{task_.device_infos()}; });
}

PINION_DECL opened task_server::tell_libraries(const delivery& d) {
  return reader_.waiting<libraries_request>(d, [this](auto&&) { return libraries_reply{task_.libraries()}; });
}

PINION_DECL opened task_server::tell_all(const delivery& d) {
  return reader_.waiting<report_request>(d, [this](auto&&) { return report_reply{report()}; });
}

PINION_DECL opened task_server::shut_down(const delivery& d) {
  return on<shutdown_request>(d, [this](auto&&) {
    net_->post([this] { stop_beside(); });
    return shutdown_reply{to_ms(bounded(config_.grace) + bounded(config_.stop_timeout))};
  });
}

PINION_DECL void task_server::came(const rpc::peer_ref& who) {
  members_.came(*who);
  exchange_.came(who);
}

PINION_DECL void task_server::gone(const rpc::peer_ref& who, const error& why) {
  insist([&] { exchange_.gone(who, why); });
  if (reader_.forget(who->channel)) spare_.graphs_let_go();
  error lost(errc::cancelled, "");
  insist([&] { lost = error(errc::cancelled, "its client is gone: " + why.sentence()); });
  worker_.forget_owner(who->channel, lost);
  to_.master.gone(who->channel, lost);
  members_.gone(*who);
  if (who->name.empty() || acceptor_->serves(who->name)) return;
  insist([&] { worker_.tell_lost(who->name, why); });
  peers_.forget(who->name);
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
  members_.sweep();
  if (exchange_.sweep()) spare_.values_let_go();
  if (frees) spare_.sweep(builders_);
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
  const auto held = reader_.of_clients().by(one.who->channel);
  return {.address = one.who->address,
          .task = harmless(one.who->name, longest),
          .silence = std::chrono::duration<double>(one.silence).count(),
          .connections = one.connections,
          .runs = held.runs,
          .sessions = to_.master.sessions_of(one.who->channel),
          .bytes_received = held.bytes,
          .bytes_waiting = one.bytes_waiting,
          .slabs = one.shared.shown.slabs,
          .slab_bytes = one.shared.shown.bytes,
          .bytes_lent = one.shared.lent};
}

PINION_DECL told_by_network task_server::told_by_network_now() const {
  told_by_network all{
      .backlog = {.clients = acceptor_->clients(),
                  .metrics_clients = counts_.metrics_clients,
                  .bytes_waiting = acceptor_->bytes_waiting(),
                  .bytes_received = reader_.of_clients().bytes(),
                  .lines_untold = acceptor_->refusals_untold() + master_->long_runs_untold() + members_.untold()}};
  for (const rpc::peer_use& one : acceptor_->uses()) all.clients.push_back(report_of(one));
  return all;
}

PINION_DECL void task_server::complain(const std::string& still_runs, rpc::duration waited) const {
  const auto seconds = std::chrono::duration<double>(waited).count();
  write_log(log_level::error, me_.name,
            fmt::format("was stopped, but {} has not ended after {:.1f} s; it is left to itself",
                        still_runs.empty() ? "a call of one of its clients" : still_runs, seconds));
}

PINION_DECL void task_server::stop_beside() {
  if (end_.stopper.joinable()) return;
  end_.stopper = std::thread([this] {
    drain();
    stop();
  });
}

PINION_DECL void task_server::ask_to_stop() {
  if (!end_.asked_once.exchange(true)) end_.asked.count_down();
}

}}}  // namespace pinion::v0::distributed
