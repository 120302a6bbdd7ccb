// The services of one task of a cluster behind one port: the body of pinion::server, over any network.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/few_lines.hpp>
#include <pinion/base/log.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/distributed/master/master.hpp>
#include <pinion/distributed/server/calls.hpp>
#include <pinion/distributed/server/introductions.hpp>
#include <pinion/distributed/server/kept_variables.hpp>
#include <pinion/distributed/server/options.hpp>
#include <pinion/distributed/server/quotas.hpp>
#include <pinion/distributed/server/reporter.hpp>
#include <pinion/distributed/server/task_setup.hpp>
#include <pinion/distributed/worker/builders.hpp>
#include <pinion/distributed/worker/exchange.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// One task: acceptor, master, worker and exchange, and the threads that they use. Owns all of them. The public
// functions are thread-safe; requests are served in the network's thread, and anything slow moves to builders_ or
// calls_.
class task_server {
 public:
  task_server(std::shared_ptr<rpc::network> net, const cluster_spec& cluster, const server_options& options,
              std::unique_ptr<rpc::listener> bound = nullptr, std::optional<server_threads> threads = {});
  // Stops the task, and waits without limit for work that stop() left running.
  ~task_server();

  const std::string& address() const { return address_; }
  const std::shared_ptr<master>& masters() const { return master_; }
  rpc::network& network() { return *net_; }
  const exchange& values() const { return exchange_; }

  // Blocks until stop(), a stop signal or a remote shutdown, then stops; in the last two cases after drain().
  void join();

  // Begins nothing more, and waits until what has begun has ended and its results are with those who asked for them,
  // but no longer than the grace. Returns whether it has; if not, the log names it.
  bool drain();

  // Stops the task within its stop_timeout, and takes leave of its peers as finished or stopped. Returns whether all
  // work has ended; if not, the log names it.
  bool stop(rpc::task_state as = rpc::task_state::stopped);

  traffic_counts traffic() const;

  // Tells of the task. Waits for the network's thread, and so is not for that thread.
  task_report report();
  // The clients that ask for metrics, which are counted by those who answer them.
  std::atomic<int>& metrics_clients() { return metrics_clients_; }

 private:
  // ---- serving; in the network's thread

  rpc::service service();

  using answer_ref = std::shared_ptr<rpc::responder>;
  using opened = std::unique_ptr<rpc::incoming>;

  // A request or notice whose first bytes have come. The envelope is valid until its handler returns; what comes later
  // keeps the peer and the answer.
  struct delivery {
    const rpc::envelope& envelope;
    rpc::peer_ref peer;
    answer_ref answer;  // null for a notice
  };
  using handler = opened (task_server::*)(const delivery&);
  // A method or notice that is known here.
  struct entry {
    rpc::method method;
    handler handle;
    bool may_be_long = false;  // is it opened by the builders, or by code that looks before it takes?
    bool has_payload = false;
  };
  // Finds the entry of a message; null where it is not known. Throws data_loss, which closes the connection, for a long
  // message of a kind that is read on arrival, and for a payload where none belongs.
  static const entry* find(std::span<const entry> all, const rpc::envelope& e);

  opened request(const delivery& d);
  opened tell_status(const delivery& d);
  opened tell_all(const delivery& d);
  opened shut_down(const delivery& d);
  opened keep_step(const delivery& d);
  opened keep_known(const delivery& d);
  opened run_kept(const delivery& d);
  opened tell_progress(const delivery& d);
  opened reset_here(const delivery& d);
  opened send_value(const delivery& d);
  opened open(const delivery& d);
  opened extend(const delivery& d);
  opened extend_by_known(const delivery& d);
  opened prepare(const delivery& d);
  opened plan(const delivery& d);
  opened list_devices(const delivery& d);
  opened tell_libraries(const delivery& d);
  opened reset_cluster(const delivery& d);
  opened run(const delivery& d);
  opened start_partial_run(const delivery& d);
  opened feed_partial_run(const delivery& d);

  opened notice(const delivery& d);
  opened take_value(const delivery& d);
  opened hear_of_value(const delivery& d);
  opened take_credit(const delivery& d);
  opened cancel(const delivery& d);
  opened hear_of_end(const delivery& d);
  opened forget(const delivery& d);
  opened cancel_session(const delivery& d);
  opened close(const delivery& d);
  opened hear_of_task(const delivery& d);
  opened forget_partial_run(const delivery& d);

  void came(const rpc::peer_ref& who) {
    if (introductions_ && !who->name.empty() && !who->reached_at.empty()) learn_of(*who);
    exchange_.came(who);
  }
  void learn_of(const rpc::peer& who);
  void gone(const rpc::peer_ref& who, const error& why);
  void let_go(std::shared_ptr<master_session> closed);
  bool is_of(const rpc::peer_ref& who, std::uint64_t session) const;
  static requester requester_of(const rpc::peer_ref& who) { return {who->channel, who->name, who->incarnation}; }

  // Replies with an empty message, or with the failure.
  static void settle(const answer_ref& answer, const outcome<>& how);
  // Runs the body, and replies with the failure that it throws.
  template <class Body>
  static void or_fail(const answer_ref& answer, const Body& body) {
    try {
      body();
    } catch (...) {
      answer->fail(current_error());
    }
  }
  // Replies with the result of the body, or with the failure that it throws.
  template <class M, class Body>
  static void reply_with(const answer_ref& answer, M&& message, const Body& body) {
    answer->reply_with([&] { return rpc::encode(body(std::move(message))); });
  }
  // Receives a message that is answered on arrival.
  template <class M, class Body>
  static opened on(const delivery& d, Body body) {
    return rpc::receive<M>(d.envelope, [answer = d.answer, body](M&& m) { reply_with(answer, std::move(m), body); });
  }
  // A message that has come and is not yet read, and its share of its client's bytes.
  template <class M>
  struct unread {
    answer_ref answer;
    quotas::share held;
    rpc::sealed<M> sealed = {};
  };
  // Receives a message for `then`, which gets it unread. A task that is being stopped takes none, so that no client can
  // hold up its end by what it asks.
  template <class M, class Then>
  opened whole(const delivery& d, Then then) {
    const auto mail = std::make_shared<unread<M>>(unread<M>{d.answer, nullptr});
    if (!welcome(d, [&] {
          if (leaves_) throw error(farewell_);
          mail->held = quotas_.of_unread(d.peer->channel, d.envelope.control.size(), d.envelope.payload);
        }))
      return nullptr;  // its payload is passed over
    return rpc::receive_sealed<M>(d.envelope, [mail, then](rpc::sealed<M>&& sealed) {
      mail->sealed = std::move(sealed);
      then(mail);
    });
  }
  // Reads a message, and hands it to the body with the memory that it takes, as estimated, and with its share. A
  // message that cannot be read closes its connection, as one that is read on arrival does; one that takes too much
  // memory is refused.
  template <class M, class Body>
  void read(unread<M>& mail, const Body& body) {
    std::optional<M> message;
    try {
      message = mail.sealed.open(limits_.session_bytes);
    } catch (...) {
      return refuse_unread(mail.answer, current_error());
    }
    const std::uint64_t memory = mail.sealed.memory();
    mail.sealed = {};
    or_fail(mail.answer, [&] { body(std::move(*message), memory, std::move(mail.held)); });
  }
  // Receives a message that may be large, or may follow a large one. The builders read and handle it, in the order in
  // which its client sent it, so that the network's thread does not.
  template <class M, class Body>
  opened in_order(const delivery& d, Body body) {
    return whole<M>(d, [this, client = d.peer->channel, body](const std::shared_ptr<unread<M>>& mail) {
      or_fail(mail->answer, [&] { builders_.add(client, [this, mail, body] { read(*mail, body); }); });
    });
  }
  void refuse_unread(const answer_ref& answer, const error& why) const;
  // Does what looks a request up before its payload is taken. Refuses the request, and returns false, if that throws.
  template <class Look>
  static bool welcome(const delivery& d, const Look& look) {
    const auto found = outcome_of(look);
    if (found) return true;
    if (found.failure()->code() == errc::data_loss) throw error(*found.failure());  // it cannot be read
    d.answer->fail(*found.failure());
    return false;
  }
  // Reads what a message begins with.
  template <class T>
  static T beginning_of(const delivery& d) {
    T first{};
    rpc::reader in(d.envelope.control, d.envelope.payload);
    in(first);
    return first;
  }
  // Counts the bytes of a message towards those that its client has sent and that are not worked off. Throws
  // resource_exhausted for a client that sends more than is read.
  quotas::share hold(const delivery& d);
  // Receives a call that may wait for other tasks: it begins in the order of its client, then is read and runs in a
  // thread of its own. It counts among the bytes of its client as long as it waits for that thread, or for them.
  template <class M, class Body>
  opened waiting(const delivery& d, Body body) {
    return whole<M>(d, [this, client = d.peer->channel, body](const std::shared_ptr<unread<M>>& mail) {
      const auto call = [this, mail, body] {
        read(*mail, [&](M&& m, std::uint64_t, const quotas::share&) { reply_with(mail->answer, std::move(m), body); });
      };
      or_fail(mail->answer, [&] {
        builders_.add(client,
                      [this, client, mail, call] { or_fail(mail->answer, [&] { calls_.begin(client, call); }); });
      });
    });
  }

  // ---- running a prepared step

  using run_head = run_prepared_of<described_value>;
  // A run of a client: its request, without feeds, and what keeps it counted.
  struct client_run {
    std::shared_ptr<master_session> session;
    std::uint64_t step = 0, client = 0, max_wait_ms = 0;
    std::vector<any_tensor> feeds = {};
    bool trace = false;
    answer_ref answer;
    quotas::share counted = nullptr, held = nullptr;  // its share of the client's runs, and of its bytes
  };
  // These two look a run up before memory is taken for its feeds; a long one is read in the order of its client.
  opened run_short(const delivery& d);
  opened run_long(const delivery& d);
  // Runs a prepared step, which is prepared again before that, in a thread of its own, where it has become stale.
  void begin_run(client_run&& r);
  static void run_fresh(client_run&& r, deadline until);
  deadline until(std::uint64_t ms) const;

  // Drops what has waited too long: of the exchange each second, spare memory each tenth.
  static rpc::awaitable<void> sweep(task_server* self, std::shared_ptr<rpc::timer> timer,
                                    std::shared_ptr<bool> stopped);
  void sweep_once(bool frees);

  // Waits for builders_ and calls_. Each may give work to the other, but not for long once the master has stopped.
  bool end_calls(time_point until);
  static constexpr auto max_network_wait = std::chrono::seconds(5);  // for an answer that takes microseconds
  static constexpr auto keeping_wait = std::chrono::seconds(1);
  client_report report_of(const rpc::peer_use& one) const;
  told_by_network told_by_network_now() const;

  void complain(const std::string& still_runs, rpc::duration waited) const;
  // Stops the server in a thread of its own, for a remote shutdown: stop() waits, and the network's thread must not.
  void stop_beside();
  void ask_to_stop();

  const std::shared_ptr<rpc::network> net_;
  const std::string job_;
  const rpc::identity me_;
  const std::shared_ptr<rpc::traffic> traffic_ = std::make_shared<rpc::traffic>();
  std::unique_ptr<rpc::listener> listener_;
  const std::string address_;
  const server_threads threads_;
  const server_limits limits_;
  // Counts what processes of this host show the task.
  const std::shared_ptr<rpc::slab_account> slabs_ = std::make_shared<rpc::slab_account>(slab_limits_of(limits_));
  runtime::task task_;
  kept_variables kept_;
  peers peers_;
  exchange exchange_;
  worker worker_;
  std::optional<introductions> introductions_;  // of an elastic task
  const std::chrono::milliseconds grace_, stop_timeout_;
  quotas quotas_;
  builders builders_;   // joined before the members above go, which their work uses
  thread_pool alarms_;  // joined before the members above go
  calls calls_;
  std::shared_ptr<master> master_;
  const std::shared_ptr<rpc::acceptor> acceptor_;
  const std::shared_ptr<rpc::timer> sweeper_ = net_->make_timer();
  const std::shared_ptr<bool> swept_ = std::make_shared<bool>(false);  // used by the network's thread only
  std::map<std::uint64_t, std::set<std::uint64_t>> sessions_of_;       // by peer; used by the network's thread only
  // How many sweeps give the memory of graphs, and of small values, back: graphs are freed a while after their client
  // has gone. Same thread.
  static constexpr int sweeps_to_free = 4;
  int let_go_ = 0;
  // Claims of tasks to be elsewhere. Same thread.
  few_lines disbelieved_{{.before = "does not believe "},
                         [task = me_.name](const std::string& line) { write_log(log_level::warning, task, line); }};

  std::atomic<int> metrics_clients_{0};
  countdown asked_;
  std::atomic<bool> asked_once_{false}, drains_{false};
  const reporter tells_{
      {me_, address_, *net_, task_, peers_, exchange_, worker_, *master_, *traffic_, *slabs_, limits_}};
  std::thread stopper_;  // made in the network's thread while it serves, joined by the destructor
  std::mutex stopping_;
  bool stopped_ = false, all_ended_ = true;
  error farewell_ = rpc::farewell(me_.name, rpc::task_state::stopped);
  std::atomic<bool> leaves_{false};  // is farewell_ final, and said to those who ask for more?
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/graph_requests.ipp>
#include <pinion/distributed/server/partial_run_requests.ipp>
#include <pinion/distributed/server/run_requests.ipp>
#include <pinion/distributed/server/task_server.ipp>
#endif
