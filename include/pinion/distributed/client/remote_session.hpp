// The backend of a session on a cluster: the client of a master, in this process or another.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/distributed/client/session_port.hpp>
#include <pinion/distributed/master/master.hpp>
#include <pinion/distributed/wire/cancellations.hpp>
#include <pinion/distributed/wire/graph.hpp>
#include <pinion/distributed/wire/patient_mutex.hpp>
#include <pinion/runtime/backend.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// A channel of a client that is not a task. The destructor closes the channel and waits until the network has settled.
struct client_way {
  client_way(const std::shared_ptr<rpc::network>& n, const std::string& address, const std::string& task,
             const rpc::credentials& shows);
  client_way(const client_way&) = delete;
  ~client_way();

  const std::shared_ptr<rpc::network> net;
  const std::shared_ptr<rpc::channel> route;
};

// Writes each notice as a line of the log.
void warn(const std::vector<std::string>& notices);

// A session at a master in this process, whose functions are called directly.
class local_port final : public session_port {
 public:
  local_port(const std::shared_ptr<master>& m, session_settings settings)
      : net_(m->network()), session_(m->open(std::move(settings))), master_(m) {}

  void extend(graph_delta delta, deadline) override { session_->extend(std::move(delta), 0); }
  prepared_reply prepare(const runtime::step_signature& s, const call_limits& limits, prepare_options how) override;
  pinion::plan plan(const runtime::step_signature& s, const call_limits& limits) override {
    return session_->plan(s, limits);
  }
  std::vector<device_info> devices(const call_limits& limits) override { return session_->devices(limits); }
  run_result run(std::uint64_t step, std::vector<any_tensor> feeds, bool trace, deadline until) override;
  std::uint64_t begin_partial_run(std::uint64_t step, deadline until) override;
  std::vector<any_tensor> continue_partial_run(std::uint64_t run, partial_call t, deadline until) override;
  void end_partial_run(std::uint64_t run) override;
  void cancel_steps(const error& why) override { session_->cancel_steps(why); }
  void close() override;

 private:
  // The result of a run or of a call of a partial run, which may still go on when its caller has given up.
  template <class Result>
  struct pending {
    countdown ended;
    std::optional<Result> result;

    void end(Result r) {
      result = std::move(r);
      ended.count_down();
    }
  };
  // Waits for that, but no longer than a grace period after its deadline or after the session was closed, since a
  // kernel may not end.
  void await(countdown& ended, deadline until) const;
  static error stuck(errc code, const std::string& what);
  static constexpr std::chrono::seconds grace{2};

  rpc::network& net_;
  const std::shared_ptr<master_session> session_;
  const std::weak_ptr<master> master_;
};

// A session at a master in another process, reached over a channel.
class wire_port final : public session_port {
 public:
  wire_port(std::shared_ptr<rpc::network> net, const std::string& address, const rpc::credentials& shows,
            session_settings settings, deadline startup, std::function<void()> check);

  void extend(graph_delta delta, deadline until) override;
  prepared_reply prepare(const runtime::step_signature& s, const call_limits& limits, prepare_options how) override;
  pinion::plan plan(const runtime::step_signature& s, const call_limits& limits) override;
  std::vector<device_info> devices(const call_limits& limits) override;
  run_result run(std::uint64_t step, std::vector<any_tensor> feeds, bool trace, deadline until) override;
  std::uint64_t begin_partial_run(std::uint64_t step, deadline until) override;
  std::vector<any_tensor> continue_partial_run(std::uint64_t run, partial_call t, deadline until) override;
  void end_partial_run(std::uint64_t run) override;
  void cancel_steps(const error& why) override;
  void close() override;

 private:
  template <class Reply, class Request>
  Reply ask(const Request& request, deadline until, const std::string& limit = operation_limit) {
    wait_options how{.what = {},
                     .until = until,
                     .check = [this, before = cancellations_.count()] { expect_wanted(before); },
                     .limit = limit};
    // An extension is not given up when steps are cancelled: a graph that may or may not have arrived could not be
    // used.
    if constexpr (std::is_same_v<Request, extend_graph> || std::is_same_v<Request, extend_known>)
      how.check = [this] { expect_open(); };
    // The trace of a cancelled run is worth a moment.
    if constexpr (std::is_same_v<Request, run_prepared>)
      if (request.trace)
        how.check = [this, before = cancellations_.count()] { expect_wanted(before, std::chrono::seconds(1)); };
    if (how.until) *how.until += std::chrono::seconds(1);  // leaves time for the master's own error, which says more
    try {
      return ask_and_wait<Reply>(*to_.net, to_.route, request, std::move(how));
    } catch (const error& e) {
      if (e.code() == errc::aborted) expect_open();  // the master no longer knows a session that was closed
      throw;
    }
  }
  void expect_open() const;
  // Ends a wait when the session was closed, or its steps were cancelled since, and the grace is over; the master
  // itself may not answer.
  void expect_wanted(int cancellations_before, rpc::duration grace = {}) const;
  std::uint64_t left(deadline until) const;
  client_way to_;
  std::uint64_t session_ = 0;
  mutable std::mutex mutex_;
  bool closed_ = false;
  cancellations cancellations_;
};

// A session whose steps run on a cluster. Owned by pinion::session; refers to its graph. It keeps what its master was
// told of the graph, and ships what the graph has gained before it makes a step. Thread-safe.
class remote_session final : public runtime::session_backend {
 public:
  // close() waits this long for calls that still run; 0: it does not wait.
  remote_session(const session_options& options, graph& g, std::shared_ptr<rpc::network> net,
                 std::chrono::milliseconds max_close_wait = std::chrono::seconds(10));
  ~remote_session() override { close({}); }

  void expect_open() const override;
  // Steps that exist are found while others are made. Steps of different signatures are made concurrently; of several
  // threads that ask for the same step, one makes it.
  std::shared_ptr<runtime::prepared_step> prepare(const runtime::step_signature& signature) override;

  void run(runtime::prepared_step& step, std::span<any_tensor> feeds, std::span<any_tensor> results,
           step_trace* trace) override;

  std::shared_ptr<runtime::partial_run_backend> begin_partial_run(const runtime::step_signature& signature) override;

  pinion::measured_costs measured_costs() override;
  memory_use memory() override;
  std::pair<any_tensor, std::string> to_device(const any_tensor&, const device_spec& where) override;
  pinion::plan plan(const runtime::step_signature& signature) override;
  std::vector<device_info> list_devices() override;
  void cancel_steps(const error& why) override;
  void close(source_location where) override;

 private:
  struct remote_step final : runtime::prepared_step {
    remote_step(std::uint64_t n, std::vector<output_type> types) : number(n), fetched(std::move(types)) {}
    std::uint64_t number;
    std::vector<output_type> fetched;
  };
  struct step_place {
    patient_mutex making;
    std::shared_ptr<remote_step> step;  // guarded by the session's mutex_, as is the next
    shared_error late = nullptr;        // the last time that it was made too late
  };

  using step_table = std::unordered_map<runtime::step_signature, std::shared_ptr<step_place>, runtime::signature_hash>;

  // The step of a table, which is made if it is not there.
  std::shared_ptr<remote_step> prepared(step_table& in, const runtime::step_signature& signature);
  std::shared_ptr<step_place> place_of(step_table& in, const runtime::step_signature& signature);
  std::shared_ptr<remote_step> step_in(const step_place& place) const;
  shared_error failure_of(const step_place& place) const;
  // One caller makes a step; those who come meanwhile wait, and share what comes of it where that is too late.
  std::shared_ptr<remote_step> make_step(step_place& place, const runtime::step_signature& signature, bool partial);
  prepared_reply prepare_in(step_place& place, const runtime::step_signature& signature, bool partial);

  // The limits that the options set, and the deadline of work that begins now.
  call_limits limits() const;
  deadline until() const { return after(*net_, limits().operation); }
  // Returns what ends a wait that begins now: it throws when the session was closed, or its steps were cancelled since.
  std::function<void()> while_wanted() const;
  // The wait for another call that holds a mutex of the session, which "opens the session".
  wait_options behind(const std::string& what_it_does, deadline until, const std::string& limit) const;

  // Returns the access to the master. The first call opens the session and waits for the target; others wait for it,
  // each until a deadline of its own. Throws closed_meanwhile() if the session is closed, and the reason of a
  // cancellation that comes meanwhile.
  std::shared_ptr<session_port> port();
  std::shared_ptr<session_port> open(deadline until, std::function<void()> check);

  // Sends the master the nodes that the graph has gained. Other threads that make steps wait for it, each until a
  // deadline of its own, since their steps need the same graph.
  void ship(session_port& to);

  const session_options options_;
  const rpc::credentials shows_;
  graph& graph_;
  const std::shared_ptr<rpc::network> net_;
  const std::string address_;
  const std::chrono::milliseconds max_close_wait_;

  patient_mutex shipping_;  // held while the master is told of nodes; guards shipped_
  shipped shipped_;

  const std::shared_ptr<users> calls_ = std::make_shared<users>();  // calls that still run; may outlive this object
  patient_mutex opening_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  source_location closed_at_;
  cancellations cancellations_;
  std::shared_ptr<session_port> port_;
  step_table steps_, partial_steps_;
};

// Asks a master to reset its cluster, and waits for it.
void reset_remote(const std::shared_ptr<rpc::network>& net, const std::string& address,
                  const std::vector<std::string>& containers, const security_options& security);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/client/remote_session.ipp>
#endif
