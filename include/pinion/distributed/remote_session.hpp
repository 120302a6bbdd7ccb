// A session whose steps run on a cluster: the client of a master, in this process or another.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/distributed/local_masters.hpp>
#include <pinion/distributed/server_core.hpp>
#include <pinion/runtime/backend.hpp>

namespace pinion::inline v0::distributed {

// A channel of a client that is no task; closed, and no longer running, when it goes.
struct client_way {
  client_way(const std::shared_ptr<rpc::network>& n, const std::string& address, const std::string& task,
             const security_options& security)
      : net(n),
        way(std::make_shared<rpc::channel>(
            *net, address, task, rpc::channel_options{.me = {"", rpc::random_number(), security.key}, .allowed = {}})) {
  }
  client_way(const client_way&) = delete;
  ~client_way() {
    way->close(error(errc::cancelled, "the client is done with it"));
    rpc::settle(*net);
  }

  const std::shared_ptr<rpc::network> net;
  const std::shared_ptr<rpc::channel> way;
};

// A session at a master, as its client sees it. Calls block. Thread-safe.
class session_port {
 public:
  virtual ~session_port() = default;
  virtual void extend(graph_delta delta, patience until) = 0;
  virtual prepared_reply prepare(const runtime::step_signature& signature, patience until, bool lines) = 0;
  virtual pinion::plan plan(const runtime::step_signature& signature, patience until) = 0;
  virtual run_result run(std::uint64_t step, std::vector<any_tensor> feeds, bool trace, patience until) = 0;
  virtual std::vector<device_info> devices(patience until) = 0;
  virtual void cancel_steps(const error& why) = 0;
  virtual void close() = 0;
};

inline void warn(const std::vector<std::string>& notices) {
  for (const auto& notice : notices) std::fprintf(stderr, "pinion: %s\n", notice.c_str());
}

// A master in this process is called, not written to.
class local_port final : public session_port {
 public:
  local_port(const std::shared_ptr<master>& m, session_settings settings)
      : net_(m->network()), session_(m->open(std::move(settings))), master_(m) {}

  void extend(graph_delta delta, patience) override { session_->extend(std::move(delta)); }
  prepared_reply prepare(const runtime::step_signature& s, patience until, bool lines) override {
    return session_->prepare(s, until, lines);
  }
  pinion::plan plan(const runtime::step_signature& s, patience until) override { return session_->plan(s, until); }
  std::vector<device_info> devices(patience until) override { return session_->devices(until); }
  run_result run(std::uint64_t step, std::vector<any_tensor> feeds, bool trace, patience until) override {
    if (!session_->is_fresh(step)) session_->refresh(step, until);
    const auto out = std::make_shared<outcome>();
    session_->run(step, std::move(feeds), trace, until, worker::begin_in::this_thread,
                  [out](run_result got, const error* why) {
                    out->result = std::move(got);
                    if (why) out->failed = *why;
                    out->ended.count_down();
                  });
    await(*out, until);
    warn(session_->take_notices());
    if (out->failed) throw *out->failed;
    return std::move(out->result);
  }
  void cancel_steps(const error& why) override { session_->cancel_steps(why); }
  void close() override {
    const auto closed = error(errc::cancelled, "the session was closed while the step ran");
    if (const auto m = master_.lock())
      if (const auto session = m->close(session_->handle(), closed)) session->let_go();
  }

 private:
  // Shared with a run, which may outlast the patience of whoever began it.
  struct outcome {
    countdown ended;
    run_result result;
    std::optional<error> failed;
  };
  // A kernel that does not end holds nobody for ever: neither beyond the run's time, nor when the session was closed.
  void await(outcome& out, patience until) const {
    if (out.ended.done()) return;
    std::optional<time_point> closed;
    while (!net_.wait(out.ended, net_.now() + std::chrono::milliseconds(100))) {
      const auto now = net_.now();
      if (until && now > *until + grace) throw stuck(errc::deadline_exceeded, "the session's operation_timeout");
      if (!closed && !session_->is_open()) closed = now;
      if (closed && now > *closed + grace) throw stuck(errc::cancelled, "the session was closed");
    }
  }
  static error stuck(errc code, const std::string& what) {
    return error(code, "the step did not end within " + std::to_string(grace.count()) + " s after " + what +
                           ": one of its kernels does not return; it is left to itself");
  }
  static constexpr std::chrono::seconds grace{2};

  rpc::network& net_;
  const std::shared_ptr<master_session> session_;
  const std::weak_ptr<master> master_;
};

// A master in another process.
class wire_port final : public session_port {
 public:
  wire_port(std::shared_ptr<rpc::network> net, const std::string& address, const security_options& security,
            session_settings settings, patience until, std::function<void()> check)
      : to_(std::move(net), address, "", security) {
    connect_and_wait(*to_.net, to_.way, {.what = {}, .until = until, .check = std::move(check)});
    session_ =
        ask<opened_session>(open_session{settings.soft, std::move(settings.filters), settings.optimize}, until).session;
  }

  void extend(graph_delta delta, patience until) override {
    ask<nothing>(extend_graph{session_, std::move(delta)}, until);
  }
  prepared_reply prepare(const runtime::step_signature& s, patience until, bool lines) override {
    return ask<prepared_reply>(prepare_step{session_, left(until), s, lines}, until);
  }
  pinion::plan plan(const runtime::step_signature& s, patience until) override {
    return ask<plan_reply>(plan_step{session_, left(until), s}, until).plan;
  }
  std::vector<device_info> devices(patience until) override {
    return ask<list_reply>(list_request{session_, left(until)}, until).devices;
  }
  run_result run(std::uint64_t step, std::vector<any_tensor> feeds, bool trace, patience until) override {
    auto reply = ask<run_reply>(run_request{session_, step, left(until), std::move(feeds), trace}, until);
    warn(reply.notices);
    return {std::move(reply.fetches), std::move(reply.trace)};
  }
  void cancel_steps(const error& why) override {
    {
      std::lock_guard hold(mutex_);
      if (closed_) return;
      ++cancellations_;
      cancelled_by_ = why;
    }
    to_.way->notify(rpc::lane::control, cancel_runs::method, rpc::encode(cancel_runs{session_, why}),
                    rpc::connection::urgency::now);
  }
  void close() override {
    {
      std::lock_guard hold(mutex_);
      if (std::exchange(closed_, true)) return;
    }
    to_.way->notify(rpc::lane::data, close_session::method, rpc::encode(close_session{session_}),
                    rpc::connection::urgency::now);
  }

 private:
  template <class Reply, class Request>
  Reply ask(const Request& request, patience until) {
    wait_options how{.what = {}, .until = until, .check = [this, before = cancellations()] { expect_wanted(before); }};
    // A graph that may or may not have arrived would be of no use any more.
    if constexpr (std::is_same_v<Request, extend_graph>) how.check = [this] { expect_open(); };
    if (how.until) *how.until += std::chrono::seconds(1);  // the master's own error says more
    return ask_and_wait<Reply>(*to_.net, to_.way, request, std::move(how));
  }
  void expect_open() const {
    std::lock_guard hold(mutex_);
    if (closed_) throw error(errc::cancelled, "the session was closed while the step ran");
  }
  // The master may be one that does not answer.
  void expect_wanted(int cancellations_before) const {
    expect_open();
    std::lock_guard hold(mutex_);
    if (cancellations_ != cancellations_before) throw *cancelled_by_;
  }
  int cancellations() const {
    std::lock_guard hold(mutex_);
    return cancellations_;
  }
  std::uint64_t left(patience until) const {
    if (!until) return 0;
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(*until - to_.net->now()).count();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(ms, 1));
  }
  client_way to_;
  std::uint64_t session_ = 0;
  mutable std::mutex mutex_;
  bool closed_ = false;
  int cancellations_ = 0;  // of what was under way then
  std::optional<error> cancelled_by_;
};

class remote_session final : public runtime::session_backend {
 public:
  // close() waits so long for calls under way.
  remote_session(const session_options& options, graph& g, std::shared_ptr<rpc::network> net,
                 std::chrono::milliseconds patience_of_close = std::chrono::seconds(10))
      : options_(options),
        graph_(g),
        net_(std::move(net)),
        address_(address_of_target(options.target)),
        patience_of_close_(patience_of_close) {
    if (options.placer)
      throw error(errc::invalid_argument,
                  "a session on a cluster is placed by the task it targets; give that server its "
                  "placer: server_options.config.placer");
    if (options.record_costs)
      throw error(errc::unimplemented, "costs are recorded by sessions of one process, and this one is on a cluster");
  }
  ~remote_session() override { close({}); }

  // Steps that are there are found while others are made, and steps are made beside each other; of those that ask for
  // one step, one makes it.
  std::shared_ptr<runtime::prepared_step> prepare(const runtime::step_signature& signature) override {
    const users::one call(calls_);
    const auto place = place_of(signature);
    if (auto known = step_in(*place)) return expect_open(), known;
    std::lock_guard one_makes_it(place->making);
    if (auto known = step_in(*place)) return expect_open(), known;
    const auto until = deadline();
    ship(until);
    const bool lines = options_.log_device_placement;
    const auto reply = port(until)->prepare(signature, until, lines);
    for (const auto& line : reply.placed) log_placement(options_, line);
    auto made = std::make_shared<remote_step>(reply.step);
    std::lock_guard hold(mutex_);
    return place->step = std::move(made);
  }

  void run(runtime::prepared_step& step, std::span<const any_tensor> feeds, std::span<any_tensor> results,
           step_trace* trace) override {
    const users::one call(calls_);
    const auto until = deadline();
    run_result got =
        port(until)->run(static_cast<remote_step&>(step).number, {feeds.begin(), feeds.end()}, trace != nullptr, until);
    if (got.fetches.size() != results.size()) throw error(errc::internal, "the master sent another number of results");
    std::move(got.fetches.begin(), got.fetches.end(), results.begin());
    if (trace) *trace = std::move(got.trace);
  }

  pinion::measured_costs measured_costs() override {
    throw error(errc::unimplemented, "costs are recorded by sessions of one process, and this one is on a cluster");
  }
  std::pair<any_tensor, std::string> to_device(const any_tensor&, const device_spec& where) override {
    throw error(errc::unimplemented, "a value can be copied ahead to a device of this process, and " +
                                         to_string(where) + " belongs to a session on a cluster");
  }
  pinion::plan plan(const runtime::step_signature& signature) override {
    const users::one call(calls_);
    const auto until = deadline();
    ship(until);
    return port(until)->plan(signature, until);
  }
  std::vector<device_info> list_devices() override {
    const users::one call(calls_);
    const auto until = deadline();
    return port(until)->devices(until);
  }
  void cancel_steps(const error& why) override {
    std::shared_ptr<session_port> open;
    {
      std::lock_guard hold(mutex_);
      open = port_;
    }
    if (open) open->cancel_steps(why);
  }
  void close(source_location where) override {
    std::shared_ptr<session_port> open;
    {
      std::lock_guard hold(mutex_);
      if (!std::exchange(closed_, true)) closed_at_ = where;
      open = std::exchange(port_, nullptr);
    }
    if (open) open->close();
    if (net_->single_threaded()) return;  // what is under way waits for this thread
    if (!calls_->wait_until_none(std::chrono::steady_clock::now() + patience_of_close_))
      std::fprintf(stderr, "pinion: a session at %s was closed, and a call of it has not ended; it is left to itself\n",
                   address_.c_str());
  }

 private:
  struct remote_step final : runtime::prepared_step {
    explicit remote_step(std::uint64_t n) : number(n) {}
    std::uint64_t number;
  };
  struct step_place {
    std::mutex making;
    std::shared_ptr<remote_step> step;  // guarded by the session's mutex_
  };

  std::shared_ptr<step_place> place_of(const runtime::step_signature& signature) {
    std::lock_guard hold(mutex_);
    auto& place = steps_[signature];
    if (!place) place = std::make_shared<step_place>();
    return place;
  }
  std::shared_ptr<remote_step> step_in(const step_place& place) const {
    std::lock_guard hold(mutex_);
    return place.step;
  }

  patience deadline() const {
    if (options_.operation_timeout.count() == 0) return std::nullopt;
    return net_->now() + options_.operation_timeout;
  }
  void expect_open() const {
    std::lock_guard hold(mutex_);
    refuse_if_closed();
  }

  // Requires mutex_ held.
  void refuse_if_closed() const {
    if (closed_) throw error(errc::failed_precondition, "the session is closed").called_at(to_string(closed_at_));
  }

  // The first call waits for the target.
  std::shared_ptr<session_port> port(patience until) {
    {
      std::lock_guard hold(mutex_);
      refuse_if_closed();
      if (port_) return port_;
    }
    std::lock_guard one_opens(opening_);
    {
      std::lock_guard hold(mutex_);
      if (port_) return port_;
    }
    auto opened = open(until);
    std::lock_guard hold(mutex_);
    refuse_if_closed();
    return port_ = std::move(opened);
  }
  std::shared_ptr<session_port> open(patience until) {
    session_settings settings{options_.allow_soft_placement, options_.device_filters, options_.optimize};
    if (const auto here = local_masters::instance().find(address_, options_.security.key))
      return std::make_shared<local_port>(here, std::move(settings));
    return std::make_shared<wire_port>(net_, address_, options_.security, std::move(settings), until,
                                       [this] { expect_open(); });
  }

  // Sends what the graph has gained since. Those who make steps meanwhile wait for it, since it is their graph too.
  void ship(patience until) {
    std::lock_guard one_at_a_time(shipping_);
    auto delta = delta_since(graph_, shipped_);
    if (delta.nodes.empty() && delta.gone.empty()) return;
    const auto to = port(until);
    auto after = shipped_;
    after.add(delta);
    to->extend(std::move(delta), until);
    shipped_ = std::move(after);
  }

  const session_options options_;
  graph& graph_;
  const std::shared_ptr<rpc::network> net_;
  const std::string address_;
  const std::chrono::milliseconds patience_of_close_;

  std::mutex shipping_;  // held while the master is told of nodes; guards what it was told of
  shipped shipped_;

  const std::shared_ptr<users> calls_ = std::make_shared<users>();  // those under way; may outlast this
  std::mutex opening_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  source_location closed_at_;
  std::shared_ptr<session_port> port_;
  std::unordered_map<runtime::step_signature, std::shared_ptr<step_place>, runtime::signature_hash> steps_;
};

// Asks a task to stop, and waits until its port is free.
inline void stop_remote(const std::shared_ptr<rpc::network>& net, const std::string& address, const std::string& task,
                        const security_options& security) {
  const auto until = net->now() + std::chrono::seconds(10);
  client_way to(net, address, task, security);
  reach(*net, to.way, std::chrono::seconds(1));
  const auto gone = std::make_shared<countdown>();
  to.way->observe([gone](const error&) { gone->count_down(); });
  ask_and_wait<nothing>(*net, to.way, shutdown_request{}, {.what = {}, .until = until}, rpc::lane::control);
  net->wait(*gone, until);
}

// Asks a master to reset its cluster.
inline void reset_remote(const std::shared_ptr<rpc::network>& net, const std::string& address,
                         const std::vector<std::string>& containers, const security_options& security) {
  if (const auto here = local_masters::instance().find(address, security.key)) return here->reset(containers);
  const patience until = net->now() + std::chrono::seconds(30);
  client_way to(net, address, "", security);
  connect_and_wait(*net, to.way, {.what = {}, .until = until});
  ask_and_wait<nothing>(*net, to.way, reset_request{containers}, {.what = {}, .until = until});
}

}  // namespace pinion::inline v0::distributed
