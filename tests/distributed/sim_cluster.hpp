// A cluster on a simulated network, sessions of it in this thread, and a model spread over it.
//
// Its tasks are compiled in sim_cluster.cpp alone: they take many times as long as a test of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <pinion/distributed.hpp>

#include <support/caught.hpp>
#include <support/dice.hpp>
#include <support/own_graph.hpp>

namespace pinion_tests {

using namespace pinion;
using namespace std::chrono_literals;

using duration = std::chrono::steady_clock::duration;  // of the network's own clock

inline std::string ps_task(int i) {
  return "/job:ps/replica:0/task:" + std::to_string(i);
}
inline std::string worker_task(int i) {
  return "/job:worker/replica:0/task:" + std::to_string(i);
}
// The host of a task: a loopback address of its own, so that no key is asked for.
inline std::string host_of(const std::string& task) {
  const device_spec s = parse_device(task);
  return std::string(s.job() == "ps" ? "127.0.1." : "127.0.2.") + std::to_string(s.task() + 1);
}

// Messages travel in chunks, and are written, as the seed has it.
struct weather {
  std::uint64_t seed;
};

// Sessions made while it is there speak to it. They go before it does.
class sim_cluster {
 public:
  explicit sim_cluster(std::optional<weather> how = {}, int pss = 1, int workers = 2, const server_config& config = {});
  sim_cluster(const sim_cluster&) = delete;
  ~sim_cluster();

  // A new life, where the old one was stopped or killed.
  void start(const std::string& task);
  void stop(const std::string& task);
  void kill(const std::string& task);
  void freeze(const std::string& task);
  void thaw(const std::string& task);
  void cut(const std::string& a, const std::string& b);
  void cut_way(const std::string& a, const std::string& b);
  void reset(const std::string& a, const std::string& b);
  void heal();

  void run_for(duration time);
  // Does something while the test waits for something else.
  void after(duration time, std::function<void()> what);
  duration took(const std::function<void()>& what);

  // Runs that a task, or any of them, still has, or values of them.
  std::size_t runs(const std::string& task) const;
  std::size_t runs() const;
  std::size_t offered(const std::string& task) const;  // values that wait to be pulled
  std::uint64_t requests(const std::string& task) const;
  session_options toward(const std::string& task, std::chrono::milliseconds timeout = {},
                         std::chrono::milliseconds startup = {}) const;

 private:
  friend class far_client;
  struct inside;
  const std::unique_ptr<inside> in_;
};

// A client on a host of its own that speaks to a master over the wire, and has a session there.
class far_client {
 public:
  far_client(sim_cluster& cluster, const std::string& master);
  ~far_client();
  void kill();
  void cut_off();
  void close();
  // Throws aborted where the master has its session no more.
  void look_up() const;

 private:
  struct inside;
  const std::unique_ptr<inside> in_;
};

// A value that goes to and fro between two tasks, so that a step takes its time: w + 2 * hops.
struct ping_pong : own_graph {
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
