#include <map>
#include <utility>
#include <vector>

#include <pinion/distributed/client/remote_session.hpp>
#include <pinion/distributed/master/local_masters.hpp>
#include <pinion/distributed/server/task_server.hpp>
#include <pinion/netsim/sim_network.hpp>

#include <rpc/coroutines.hpp>

#include "sim_cluster.hpp"

namespace pinion_tests {

namespace {

netsim::sim_options options_of(const std::optional<weather>& w) {
  netsim::sim_options how;
  if (!w) return how;
  how.seed = w->seed;
  how.max_chunk = w->seed % 3 == 0 ? 50 : 4096;
  how.write_now_percent = w->seed % 2 == 0 ? 50 : 0;
  return how;
}
std::string address_of(const std::string& task) {
  return host_of(task) + ":2222";
}

}  // namespace

struct sim_cluster::inside {
  inside(const std::optional<weather>& how, const server_config& c) : world(options_of(how)), config(c) {}
  ~inside() {
    runtime::enter_remote_scheme(before);
    tasks.clear();
  }

  std::shared_ptr<netsim::sim_network> host(const std::string& name) { return lives.emplace_back(world.host(name)); }
  void start(const std::string& task) {
    const device_spec s = parse_device(task);
    tasks.erase(task);
    const auto net = host(host_of(task));
    // Everything happens in the thread that waits; a listener of its own needs no key, whatever its host is called.
    tasks[task] = std::make_unique<distributed::task_server>(
        net, spec,
        pinion::server_options{.job = std::string(s.job()), .task = s.task(), .security = {}, .config = config},
        net->listen(address_of(task)), distributed::server_threads{});
  }

  static std::unique_ptr<runtime::session_backend> make_session(const session_options& o, graph& g) {
    return std::make_unique<distributed::remote_session>(o, g, here->lives.front(), 0ms);
  }

  static inline inside* here = nullptr;  // that of sessions made now
  netsim::sim_network world;
  const server_config config;
  cluster_spec spec;
  std::vector<std::shared_ptr<netsim::sim_network>> lives{world.host("client")};  // coroutines refer to them to the end
  std::map<std::string, std::unique_ptr<distributed::task_server>> tasks;
  const runtime::remote_scheme sessions{make_session, distributed::reset_cluster};
  const runtime::remote_scheme* const before = runtime::enter_remote_scheme(&sessions);
};

sim_cluster::sim_cluster(std::optional<weather> how, int pss, int workers, const server_config& config)
    : in_(std::make_unique<inside>(how, config)) {
  inside::here = in_.get();
  for (int i = 0; i < pss; ++i) in_->spec.add_task("ps", i, address_of(ps_task(i)));
  for (int i = 0; i < workers; ++i) in_->spec.add_task("worker", i, address_of(worker_task(i)));
  for (int i = 0; i < pss; ++i) start(ps_task(i));
  for (int i = 0; i < workers; ++i) start(worker_task(i));
}
sim_cluster::~sim_cluster() = default;

void sim_cluster::start(const std::string& task) {
  in_->start(task);
}
void sim_cluster::stop(const std::string& task) {
  in_->tasks.at(task)->stop();
}
void sim_cluster::kill(const std::string& task) {
  in_->world.kill(host_of(task));
}
void sim_cluster::freeze(const std::string& task) {
  in_->world.freeze(host_of(task));
}
void sim_cluster::thaw(const std::string& task) {
  in_->world.thaw(host_of(task));
}
void sim_cluster::cut(const std::string& a, const std::string& b) {
  in_->world.cut(host_of(a), host_of(b));
}
void sim_cluster::cut_way(const std::string& a, const std::string& b) {
  in_->world.cut_way(host_of(a), host_of(b));
}
void sim_cluster::reset(const std::string& a, const std::string& b) {
  in_->world.reset(host_of(a), host_of(b));
}
void sim_cluster::heal() {
  for (const auto& [a, unused] : in_->tasks) {
    thaw(a);
    for (const auto& [b, also_unused] : in_->tasks) in_->world.heal(host_of(a), host_of(b));
  }
}

void sim_cluster::run_for(duration time) {
  in_->world.run_for(time);
}
void sim_cluster::after(duration time, std::function<void()> what) {
  pinion_tests::after(in_->world, time, std::move(what));
}
duration sim_cluster::took(const std::function<void()>& what) {
  const auto began = in_->world.now();
  what();
  return in_->world.now() - began;
}

std::size_t sim_cluster::runs(const std::string& task) const {
  auto& values = in_->tasks.at(task)->values();
  return values.count().runs + values.count().offered;
}
std::size_t sim_cluster::offered(const std::string& task) const {
  return in_->tasks.at(task)->values().count().offered;
}
std::size_t sim_cluster::runs() const {
  std::size_t n = 0;
  for (const auto& [task, unused] : in_->tasks) n += runs(task);
  return n;
}
std::uint64_t sim_cluster::requests(const std::string& task) const {
  return in_->tasks.at(task)->traffic().requests;
}
session_options sim_cluster::toward(const std::string& task, std::chrono::milliseconds timeout,
                                    std::chrono::milliseconds startup) const {
  return {.target = "pinion://" + address_of(task), .startup_timeout = startup, .operation_timeout = timeout};
}

struct far_client::inside {
  sim_cluster::inside& cluster;
  std::string master;
  std::shared_ptr<rpc::channel> way;
  std::uint64_t session;
};

far_client::far_client(sim_cluster& cluster, const std::string& master)
    : in_(new inside{*cluster.in_, master, nullptr, 0}) {
  netsim::sim_network& world = in_->cluster.world;
  in_->way = std::make_shared<rpc::channel>(*in_->cluster.host("far"), address_of(master), master,
                                            rpc::channel_options{.me = {}, .allowed = {}});
  distributed::connect_and_wait(world, in_->way, {.what = {}, .until = world.now() + 1s});
  in_->session =
      distributed::ask_and_wait<distributed::opened_session>(world, in_->way, distributed::open_session{}).session;
}
far_client::~far_client() = default;

void far_client::kill() {
  in_->cluster.world.kill("far");
}
void far_client::cut_off() {
  in_->cluster.world.cut("far", host_of(in_->master));
}
void far_client::close() {
  in_->way->close(error(errc::cancelled, "over"));
}
void far_client::look_up() const {
  in_->cluster.tasks.at(in_->master)->masters()->find(in_->session);
}

}  // namespace pinion_tests
