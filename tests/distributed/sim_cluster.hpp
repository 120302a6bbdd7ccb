// A cluster on a simulated network, sessions of it in this thread, and a model spread over it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed.hpp>
#include <pinion/distributed/remote_session.hpp>
#include <pinion/rpc/sim_network.hpp>
#include <pinion/session.hpp>

#include <rpc/coroutines.hpp>

namespace pinion_tests {

using namespace std::chrono_literals;

inline std::string ps_task(int i) {
  return distributed::task_name("ps", i);
}
inline std::string worker_task(int i) {
  return distributed::task_name("worker", i);
}
// The host of a task: a loopback address of its own, so that no key is asked for.
inline std::string host_of(const std::string& task) {
  const device_spec s = parse_device(task);
  return std::string(s.job() == "ps" ? "127.0.1." : "127.0.2.") + std::to_string(s.task() + 1);
}

inline sim_options weather(std::uint64_t seed) {
  sim_options how;
  how.seed = seed;
  how.max_chunk = seed % 3 == 0 ? 50 : 4096;
  how.write_now_percent = seed % 2 == 0 ? 50 : 0;
  return how;
}

// Sessions made while it is there speak to it. They go before it does.
class sim_cluster {
 public:
  explicit sim_cluster(const sim_options& how = {}, int pss = 1, int workers = 2, const server_config& config = {})
      : world(how), config_(config) {
    for (int i = 0; i < pss; ++i) spec_.add_task("ps", i, host_of(ps_task(i)) + ":2222");
    for (int i = 0; i < workers; ++i) spec_.add_task("worker", i, host_of(worker_task(i)) + ":2222");
    for (int i = 0; i < pss; ++i) start(ps_task(i));
    for (int i = 0; i < workers; ++i) start(worker_task(i));
    here() = this;
    runtime::remote_sessions().make_session = [](const session_options& o, graph& g) {
      return std::unique_ptr<runtime::session_backend>(
          std::make_unique<distributed::remote_session>(o, g, here()->lives_.front()));
    };
  }
  ~sim_cluster() {
    runtime::remote_sessions() = before_;
    tasks_.clear();
  }

  distributed::server_core& task(const std::string& name) { return *tasks_.at(name); }
  std::shared_ptr<sim_network> host(const std::string& name) {
    lives_.push_back(world.host(name));
    return lives_.back();
  }
  // A new life, where the old one was stopped or killed.
  void start(const std::string& name) {
    const device_spec s = parse_device(name);
    tasks_.erase(name);
    tasks_[name] = std::make_unique<distributed::server_core>(
        host(host_of(name)), spec_,
        pinion::server_options{.job = std::string(s.job()), .task = s.task(), .security = {}, .config = config_});
  }
  void kill(const std::string& name) { world.kill(host_of(name)); }
  void freeze(const std::string& name) { world.freeze(host_of(name)); }
  void thaw(const std::string& name) { world.thaw(host_of(name)); }
  void cut(const std::string& a, const std::string& b) { world.cut(host_of(a), host_of(b)); }
  void cut_way(const std::string& a, const std::string& b) { world.cut_way(host_of(a), host_of(b)); }
  void reset(const std::string& a, const std::string& b) { world.reset(host_of(a), host_of(b)); }
  void heal() {
    for (const auto& [a, unused] : tasks_) {
      thaw(a);
      for (const auto& [b, also_unused] : tasks_) world.heal(host_of(a), host_of(b));
    }
  }
  // Runs that any task still has, or values of them.
  std::size_t runs() const {
    std::size_t n = 0;
    for (const auto& [name, t] : tasks_) n += t->values().runs() + t->values().offered();
    return n;
  }
  session_options toward(const std::string& name, std::chrono::milliseconds timeout = {}) {
    return {.target = "pinion://" + host_of(name) + ":2222", .operation_timeout = timeout};
  }
  rpc::duration took(const std::function<void()>& what) {
    const auto began = world.now();
    what();
    return world.now() - began;
  }

  sim_network world;

 private:
  static sim_cluster*& here() {
    static sim_cluster* one = nullptr;
    return one;
  }

  const server_config config_;
  cluster_spec spec_;
  std::vector<std::shared_ptr<sim_network>> lives_{world.host("client")};  // coroutines refer to them to the end
  std::map<std::string, std::unique_ptr<distributed::server_core>> tasks_;
  const runtime::remote_scheme before_ = runtime::remote_sessions();
};

// A value that goes to and fro between two tasks, so that a step takes its time: w + 2 * hops.
struct ping_pong {
  graph g;
  default_scope use = g.as_default();
  variable_handle<float> w;
  expr<float> end;
  operation up;
  operation init;
  float hops;

  explicit ping_pong(const std::string& from = ps_task(0), const std::string& to = worker_task(0), int n = 5,
                     std::int64_t size = 3)
      : hops(static_cast<float>(n)) {
    {
      const device on{from};
      w = variable(tensor<float>({size}), {.name = "w"});
      up = group(assign_add(w, ones(size)));
    }
    end = w;
    for (int i = 0; i < n; ++i) {
      end = hop(end, to, "there");
      end = hop(end, from, "back");
    }
    init = global_variables_initializer();
  }
  static tensor<float> ones(std::int64_t size) {
    tensor<float> t({size});
    for (float& x : t.span()) x = 1;
    return t;
  }
  static expr<float> hop(const expr<float>& x, const std::string& to, const std::string& name) {
    const device on{to};
    return pinion::identity(x + 1.f, name);
  }
  bool is_right(const tensor<float>& got, float of_w = 0) const {
    bool right = got.size() > 0;
    for (const float x : got.span()) right = right && x == of_w + 2 * hops;
    return right;
  }
};

inline std::string name_of(const error& e) {
  return std::string(to_string(e.code())) + " in " + e.task();
}

}  // namespace pinion_tests
