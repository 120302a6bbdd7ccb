// A simulated cluster: hosts, the lives of their processes, and the network as these see it.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pinion/base/log.hpp>
#include <pinion/distributed/client/remote_session.hpp>
#include <pinion/distributed/server/task_server.hpp>
#include <pinion/netsim/sim_network.hpp>
#include <pinion/pinion.hpp>
#include <pinion/rpc/transport/asio_io.hpp>
#include <pinion/train/checkpoint/checkpoint_reader.hpp>

#include "disk.hpp"
#include "ledger.hpp"

namespace simulation {

namespace pn = pinion;
using namespace std::chrono_literals;

// How the workers train together.
enum class training { async, sync, ssp };
inline const char* to_string(training kind) {
  return kind == training::sync ? "sync" : kind == training::ssp ? "ssp" : "async";
}

// What a seed decides about a run, besides its faults.
struct draw {
  std::uint64_t seed;
  dice chance{seed ^ 0x5eed};
  pn::netsim::sim_options network = [this] {
    pn::netsim::sim_options o;
    o.seed = seed;
    if (chance.chance(30)) o.min_latency = 1ms, o.max_latency = 20ms;
    o.max_chunk = chance.chance(30) ? 50 : 4096;
    o.whole_percent = 80;  // pieces are what a run costs
    o.write_now_percent = chance.chance(50) ? 50 : 0;
    return o;
  }();
  int pss = chance.chance(50) ? 2 : 1, workers = chance.chance(50) ? 3 : 2;
  std::int64_t elements = std::int64_t{1} << chance.below(12);
  unsigned hurry = chance.chance(20) ? 0 : chance.chance(50) ? 5 : 30;
  pn::server_config config = [this] {
    pn::server_config c;
    if (chance.chance(50)) c.credit = 64;
    c.inter_op_threads = 1 + static_cast<int>(chance.below(2));
    c.intra_op_threads = 1;
    c.limits.runs = 64;
    c.limits.runs_of_all = 300;
    c.limits.threads = 8;
    if (chance.chance(50)) c.grace = 25s;
    return c;
  }();
  double save_secs = static_cast<double>(5 + chance.below(40));
  bool in_threads = chance.chance(80);  // otherwise all of a task runs in the thread that waits
  simulation::training training = [this] {
    if (chance.chance(50)) return training::async;
    return chance.chance(50) ? training::sync : training::ssp;
  }();
};

// The port of each task. A client finds a task of its own process without the network by the text of its address, and
// all are of one process here; so a client of another host writes the port in another way.
inline constexpr std::string_view port = ":2222", from_outside = ":02222";

// A host's network, whose own thread is the director: those who wait sleep like threads of a real one.
class host_network final : public pn::rpc::network {
 public:
  explicit host_network(std::shared_ptr<pn::netsim::sim_network> of) : of_(std::move(of)) {}

  asio::io_context& context() override {
    scheduler::now_running()->posts();
    return of_->context();
  }
  time_point now() const override { return scheduler::now_running()->now(); }
  std::unique_ptr<pn::rpc::timer> make_timer() override { return of_->make_timer(); }
  std::uint64_t draw() override { return of_->draw(); }
  pn::rpc::awaitable<std::unique_ptr<pn::rpc::byte_stream>> connect(std::string address, time_point by) override {
    if (address.ends_with(from_outside))
      address.replace(address.size() - from_outside.size(), from_outside.size(), port);
    if (on_connect) on_connect(*this, address);
    return of_->connect(std::move(address), by);
  }
  std::unique_ptr<pn::rpc::listener> listen(const std::string& address) override { return of_->listen(address); }
  static inline std::function<void(const host_network&, const std::string& address)> on_connect;  // begins
  bool wait(pn::countdown& event, const std::optional<time_point>& deadline) override {
    return event.wait(deadline == time_point::max() ? std::nullopt : deadline);
  }

 private:
  const std::shared_ptr<pn::netsim::sim_network> of_;
};

// A life of a host: a process and its threads. One that is killed is cut off, and runs on until it notices; nothing
// that it does is seen by others.
struct life : process {
  std::shared_ptr<host_network> net;
  std::thread thread;
  pn::countdown asked;                             // to end, or to notice that it is dead
  pn::distributed::task_server* server = nullptr;  // while it serves
  int looks = 0;                                   // at the server, which waits for their end
  bool ended = false;
  bool misses_chief = false;  // a worker takes its chief for lost
  duration frozen_for{};      // so far
  time_point frozen_at{};
};

// The life that the calling thread belongs to; null: none.
inline life* own_life() {
  strand* const me = scheduler::me();
  return me ? static_cast<life*>(me->of) : nullptr;
}

// Thrown where a program notices that its process is dead.
struct is_dead {};
inline void notice_death() {
  if (const life* mine = own_life(); mine && mine->dead) throw is_dead();
}

// A host, on which a task of the cluster lives again and again, or a client of it.
struct host {
  std::string job;  // "guest": a client
  int task = 0;
  std::string name;  // a loopback address, so that no key is asked for
  std::unique_ptr<life> now = nullptr;

  std::string address() const { return name + std::string(port); }
  std::string full() const { return fmt::format("/job:{}/replica:0/task:{}", job, task); }
  bool lives() const { return now && !now->dead && !now->ended && !now->asked.done(); }
};

// A look at the server of a task, if it serves; it stays while it is looked at.
class glance {
 public:
  explicit glance(const host& at) : of_(at.lives() && at.now->server ? at.now.get() : nullptr) {
    if (!of_) return;
    ++of_->looks;
    server_ = of_->server;
  }
  ~glance() {
    if (of_) --of_->looks;
  }
  glance(const glance&) = delete;
  explicit operator bool() const { return of_ != nullptr; }
  pn::distributed::task_server* operator->() const { return server_; }

 private:
  life* const of_;
  pn::distributed::task_server* server_ = nullptr;
};

// A fault in the middle of steps that the guest is asked for, since it knows who takes part in them: the master's
// streams to a worker are lost, so that what comes to the worker comes for no run; the ps and the worker are parted for
// longer than a step may take; the ps is asked to end while a step waits there.
enum class errand { none, orphan, part, leave };

// The hosts, and what can be done to them. Used by the thread that runs.
class cluster {
 public:
  cluster(const draw& how, history& h, ledger& l, const std::string& folder)
      : drawn(how), tells(h), accounts(l), world(how.network), disk(folder) {
    here_ = this;
    lives_.push_back(world.host("client"));
    for (int i = 0; i < how.pss; ++i) hosts.push_back({"ps", i, fmt::format("127.0.1.{}", i + 1)});
    for (int i = 0; i < how.workers; ++i) hosts.push_back({"worker", i, fmt::format("127.0.2.{}", i + 1)});
    for (const host& h : hosts) spec.add_task(h.job, h.task, h.address());
    hosts.push_back({"guest", 0, "127.0.3.1"});
    host_network::on_connect = [this](const host_network& from, const std::string& to) {
      connecting = {&from, to};
      connects.notify_all();
    };
  }
  ~cluster() {
    host_network::on_connect = nullptr;
    pn::runtime::enter_remote_scheme(before_);
  }
  cluster(const cluster&) = delete;

  host& at(const std::string& job, int task) {
    for (host& h : hosts)
      if (h.job == job && h.task == task) return h;
    throw std::logic_error("no such host");
  }

  // Starts a host's program, which gets the host and its life.
  void start(host& h, std::function<void(host&, life&)> program) {
    if (h.now && h.now->thread.joinable()) h.now->thread.join();
    h.now = std::make_unique<life>();
    h.now->name = h.full();
    lives_.push_back(world.host(h.name));
    h.now->net = std::make_shared<host_network>(lives_.back());
    tells.tell("start " + h.full());
    strand* const me = scheduler::me();
    process* const own = std::exchange(me->of, h.now.get());  // the threads of a process begin in it
    h.now->thread = std::thread([&h, program = std::move(program)] {
      life& mine = *h.now;
      program(h, mine);
      mine.ended = true;
    });
    me->of = own;
  }
  void kill(host& h, bool power) {
    tells.tell((power ? "crash " : "kill ") + h.full());
    if (h.job == "ps") accounts.lost_state();
    h.now->dead = true;
    thaw(h);
    world.kill(h.name);
    if (power) disk.crash(disk.root() + "/" + h.name, chance);
    h.now->asked.count_down();
  }
  void freeze(host& h) {
    tells.tell("freeze " + h.full());
    h.now->frozen = true;
    h.now->frozen_at = history::now();
    world.freeze(h.name);
  }
  void thaw(host& h) {
    if (!h.now->frozen) return;
    tells.tell("thaw " + h.full());
    h.now->frozen = false;
    h.now->frozen_for += history::now() - h.now->frozen_at;
    world.thaw(h.name);
  }

  // What one host sends stands for a while, and is lost with the streams that it has opened; the way back goes on.
  void stumble(const host& a, const host& b, duration at_most = 1500ms) {
    tells.tell(fmt::format("break the streams of {} {}", a.full(), b.full()));
    world.cut_way(a.name, b.name);
    std::this_thread::sleep_for(chance.between(1ms, at_most));
    world.reset_way(a.name, b.name);
    world.heal(a.name, b.name);
  }

  // A task is asked to end; it comes again when it is calm. The chief stays, since training ends with it.
  void leave(host& h) {
    if (!h.lives() || h.now->frozen || (h.job == "worker" && h.task == 0)) return;
    tells.tell("stop " + h.full());
    h.now->asked.count_down();
  }

  // Two hosts cannot reach each other for a while, and all others can.
  void part(const host& a, const host& b, duration at_least = 1ms, duration at_most = 20s) {
    tells.tell(fmt::format("part {} {}", a.full(), b.full()));
    world.cut(a.name, b.name);
    std::this_thread::sleep_for(chance.between(at_least, at_most));
    world.heal(a.name, b.name);
  }
  // Something between two hosts forgets their streams.
  void lose(const host& a, const host& b) {
    tells.tell(fmt::format("lose the streams of {} {}", a.full(), b.full()));
    world.lose(a.name, b.name);
  }

  pn::distributed::server_threads threads() const {
    if (!drawn.in_threads) return {};
    return {.builders = 1, .alarms = 1, .inter_op = drawn.config.inter_op_threads, .intra_op = 0};
  }

  draw drawn;
  history& tells;
  ledger& accounts;
  dice chance{drawn.seed};
  pn::netsim::sim_network world;
  disks disk;
  pn::cluster_spec spec;
  std::vector<host> hosts;
  std::condition_variable begins;                  // a step of a worker or guest
  std::condition_variable restores;                // the chief reads a checkpoint
  std::condition_variable connects;                // a host begins to connect
  std::pair<const void*, std::string> connecting;  // its network, and to where
  bool calm = false;                               // no faults now
  errand wanted = errand::none;                    // of the guest
  bool brisk = false;                              // workers make one step after the other
  host *from = nullptr, *to = nullptr;             // tasks between which its values go
  std::mutex beginning;                            // guards nothing: one thread runs
  time_point quiet_since = time_point::max();      // nothing is broken, and all have recovered

  // Something has failed; while it is quiet nothing may.
  void expect_noise(time_point since, std::string_view what) {
    if (since >= quiet_since) tells.broken(fmt::format("although nothing is broken: {}", what));
  }

 private:
  static std::unique_ptr<pn::runtime::session_backend> make_session(const pn::session_options& o, pn::graph& g) {
    life* const mine = own_life();
    if (!mine || mine->dead) throw pn::error(pn::errc::cancelled, "the process is dead");
    return std::make_unique<pn::distributed::remote_session>(o, g, mine->net);
  }
  static void reset(const std::string&, const std::vector<std::string>&, const pn::security_options&) {}

  static inline cluster* here_ = nullptr;
  std::vector<std::shared_ptr<pn::netsim::sim_network>> lives_;  // coroutines refer to them to the end
  const pn::runtime::remote_scheme sessions_{make_session, reset};
  const pn::runtime::remote_scheme* const before_ = pn::runtime::enter_remote_scheme(&sessions_);
};

// A task's server, which its life knows.
class serving {
 public:
  serving(cluster& c, host& h, life& mine) : c_(c), mine_(mine) {
    server_.emplace(mine.net, c.spec,
                    pn::server_options{.job = h.job, .task = h.task, .security = {}, .config = c.drawn.config},
                    mine.net->listen(h.address()), c.threads());
    mine.server = &*server_;
  }
  ~serving() {
    mine_.server = nullptr;
    while (mine_.looks > 0) std::this_thread::sleep_for(1ms);
    const auto began = history::now();
    const auto stood = mine_.frozen_for;
    server_.reset();
    const duration took = history::now() - began - (mine_.frozen_for - stood);
    if (took > longest_stop && !mine_.dead)
      c_.tells.broken(fmt::format("{} took {:.1f} s to stop", mine_.name, seconds(took)));
  }
  serving(const serving&) = delete;
  pn::distributed::task_server& server() { return *server_; }

 private:
  // Nothing in it is long work.
  static constexpr std::chrono::seconds longest_stop{3};

  cluster& c_;
  life& mine_;
  std::optional<pn::distributed::task_server> server_;
};

}  // namespace simulation
