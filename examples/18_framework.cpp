// The whole framework: a cluster that trains one model, with hooks around each step, checkpoints and summaries beside
// it, and servers that are shut down at the end.
//
//   /job:ps        task:0  w, global_step   task:1  b      serve until somebody shuts them down
//                     ^ v                      ^ v
//   /job:worker    task:0, the chief                       initialises or restores; saves, writes summaries
//                  task:1, task:2                          wait for that; then all train, each at its own pace
//
// Each task would be a program on a machine of its own, with a graph of its own; here each has a thread.
#include <pinion/pinion.hpp>

#include <unistd.h>

#include <filesystem>
#include <future>

namespace pn = pinion;
namespace tr = pinion::train;

constexpr int ps_tasks = 2, workers = 3, last_step = 400;
constexpr auto timeout = std::chrono::seconds(20);

// y = w x + b, where 2 and 1 would be right. Variables go to ps tasks, where the cluster has any.
struct model {
  pn::graph g;
  pn::expr<float> X, loss;
  pn::variable_handle<float> w, b;
  pn::variable_handle<std::int64_t> step;
  pn::operation train;

  explicit model(const std::string& worker = "", const pn::cluster_spec& cluster = {}) {
    const auto use = g.as_default();
    const pn::device on{pn::replica_device_setter{{.worker_device = worker, .cluster = cluster}}};
    X = pn::placeholder<float>({pn::unknown}, "X");
    w = pn::variable(0.0f, {.name = "w"});
    b = pn::variable(0.0f, {.name = "b"});
    step = tr::get_or_create_global_step();
    loss = pn::reduce_mean(pn::square(w * X + b - (2.0f * X + 1.0f)), {.name = "loss"});
    train = tr::gradient_descent{{.learning_rate = .05f}}.minimize(loss, {.global_step = step});
    tr::summary::scalar("loss", loss);
  }
};

// A hook is any type that has some of a hook's members.
struct step_tally {
  int& steps;
  void after_run(tr::run_context&, std::span<const pn::any_tensor>) { ++steps; }
};
struct farewell {
  const model& m;
  void end(pn::session& sess) {
    auto [w, b] = sess.run(m.w, m.b);
    fmt::print("the chief ends: w = {:.2f}, b = {:.2f}\n", float(w), float(b));
  }
};

void serve(const pn::cluster_spec& cluster, int task) {
  pn::server server{cluster, {.job = "ps", .task = task}};
  server.join();
}

// Returns how many steps this worker made.
int work(const pn::cluster_spec& cluster, int task, const std::string& dir) {
  pn::server server{cluster, {.job = "worker", .task = task}};
  model m(fmt::format("/job:worker/task:{}", task), cluster);
  const auto use = m.g.as_default();
  int steps = 0;
  tr::monitored_training_session sess{
      {.master = server.target(),
       .is_chief = task == 0,
       .checkpoint_dir = dir,
       .hooks = {tr::stop_at_step({.last_step = last_step}), tr::nan_tensor(m.loss), step_tally{steps}},
       .chief_only_hooks = {farewell{m}},
       .save_checkpoint_steps = 100,
       .save_summaries_steps = 50,
       .config = {.operation_timeout = timeout}}};
  pn::tensor<float> x({4});
  for (int i = 0; i < 4; ++i) x(i) = float(i - task);  // data of its own
  while (!sess.should_stop()) sess.run({{m.X, x}}, m.train);
  return steps;
}

int main() try {
  const auto dir = std::filesystem::temp_directory_path() / fmt::format("pinion_18_framework_{}", ::getpid());
  // Who serves must know everybody's address: a cluster that goes at once tells which are free.
  const auto cluster = pn::local_cluster{{{"ps", ps_tasks}, {"worker", workers}}}.spec();
  std::vector<std::future<void>> serving;
  std::vector<std::future<int>> working;
  for (int t = 0; t < ps_tasks; ++t) serving.push_back(std::async(std::launch::async, serve, cluster, t));
  for (int t = 0; t < workers; ++t) working.push_back(std::async(std::launch::async, work, cluster, t, dir.string()));
  for (auto& worker : working) worker.wait();

  // The state is still there, for any session that asks.
  model all("/job:ps/task:0", cluster);
  pn::session any{{.target = "pinion://" + cluster.address("ps", 0), .graph = &all.g, .operation_timeout = timeout}};
  const std::int64_t step = any.run(all.step);
  for (int t = 0; t < ps_tasks; ++t) pn::shutdown("pinion://" + cluster.address("ps", t));
  for (auto& ps : serving) ps.get();
  int steps = 0;
  for (auto& worker : working) steps += worker.get();
  fmt::print("the global step is at least {}: {}\n", last_step, step >= last_step);
  fmt::print("each is a step of some worker: {}\n", steps == step);

  // What was saved by two ps tasks is restored in this process.
  model here;
  const auto use = here.g.as_default();
  pn::session sess;
  tr::saver{}.restore(sess, tr::latest_checkpoint(dir.string()));
  auto [w, b] = sess.run(here.w, here.b);
  fmt::print("the newest checkpoint: w = {:.2f}, b = {:.2f}\n", float(w), float(b));
  std::filesystem::remove_all(dir);
} catch (const pn::error& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
