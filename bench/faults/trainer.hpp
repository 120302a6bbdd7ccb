// The work of the tasks of a job: a ps keeps the variables, and workers train them; worker 0 is the chief, and any that
// is told to be one. Each line that a task writes begins with its name.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pinion/pinion.hpp>

#include "ledger.hpp"
#include "part.hpp"

namespace faults {

namespace pn = pinion;
namespace tr = pinion::train;

struct task {
  std::string job;
  int number = 0;
  pn::cluster_spec cluster;
  training how;
  bool is_chief = false;

  std::string name() const { return fmt::format("{} {}", job, number); }
  pn::server_options server() const {
    return {.job = job, .task = number, .config = {.shared_memory = how.shared_memory, .elastic = how.elastic}};
  }
  void say(std::string_view line) const {
    fmt::print("{}: {}\n", name(), line);
    std::fflush(stdout);
  }
};

inline void serve(const task& me) {
  pn::server server{me.cluster, me.server()};
  server.join();
}

inline std::string name_of_count(int worker) {
  return fmt::format("applied_{}", worker);
}

// The graph of a worker. w goes towards 3, by the gradient of (w - 3)^2, and the worker's steps are counted beside it.
struct model {
  pn::expr<std::int64_t> counted;  // makes a step
  std::vector<tr::any_hook> hooks;

  explicit model(const task& me) {
    const auto step = tr::get_or_create_global_step();
    const auto w = pn::variable(pn::tensor<float>({4096}), {.name = "w"});
    std::vector<pn::variable_handle<std::int64_t>> counts;
    for (int worker = 0; worker < workers; ++worker)
      counts.push_back(pn::variable(std::int64_t{0}, {.name = name_of_count(worker), .trainable = false}));
    const pn::operation train = optimized(pn::reduce_mean(pn::square(w - 3.0f)), step, me);
    const pn::control_dependencies after{train};
    counted = pn::assign_add(counts[static_cast<std::size_t>(me.number)], std::int64_t{1});
  }

 private:
  pn::operation optimized(const pn::expr<float>& loss, const pn::variable_handle<std::int64_t>& step, const task& me) {
    const tr::gradient_descent descent{{.learning_rate = .001f}};
    if (me.how.mode == "async") return descent.minimize(loss, {.global_step = step});
    const auto timeout = std::chrono::milliseconds(static_cast<int>(1000 * me.how.worker_timeout));
    if (me.how.mode == "sync") {
      tr::sync_replicas sync{descent, {.replicas_to_aggregate = workers, .worker_timeout = timeout}};
      const auto train = sync.minimize(loss, {.global_step = step});
      hooks = {sync.make_session_run_hook(me.is_chief)};
      return train;
    }
    tr::ssp bounded{descent, {.staleness = 3, .total_num_replicas = workers, .worker_timeout = timeout}};
    const auto train = bounded.minimize(loss, {.global_step = step});
    hooks = {bounded.make_session_run_hook(me.is_chief)};
    return train;
  }
};

inline void work(const task& me) {
  using namespace std::chrono_literals;
  constexpr auto time_to_read_a_batch = 5ms;  // so that many jobs fit on one machine
  pn::server server{me.cluster, me.server()};
  const pn::device on{pn::replica_device_setter{
      {.worker_device = fmt::format("/job:worker/task:{}", me.number), .cluster = me.cluster}}};
  const model m(me);
  ledger accepted(me.how.ledger);
  tr::monitored_training_session sess{{.master = server.target(),
                                       .is_chief = me.is_chief,
                                       .checkpoint_dir = me.is_chief ? me.how.folder : "",
                                       .hooks = m.hooks,
                                       .save_checkpoint_secs = 1,
                                       .log_step_count_steps = 0,
                                       .max_wait = std::chrono::milliseconds(static_cast<int>(1000 * me.how.max_wait)),
                                       .log = [&](std::string_view line) { me.say(line); }}};
  while (!sess.should_stop()) try {
      std::this_thread::sleep_for(time_to_read_a_batch);
      accepted.of(me.number).enter(sess.run(m.counted));
    } catch (const pn::error& e) {
      if (e.code() != pn::errc::out_of_range) throw;  // the chief has ended the training of replicas in step
    }
  sess.close();
}

inline int be(const task& me) try {
  me.job == "ps" ? serve(me) : work(me);
  me.say("ended");
  return 0;
} catch (const pn::error& e) {
  me.say(std::string("failed: ") + e.what());
  return 1;
}

}  // namespace faults
