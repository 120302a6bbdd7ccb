// Handwritten digits, in step: an update is the mean of the gradients of three workers, whichever come first of four.
// The fourth is a backup: nobody waits for the slowest, and what comes late is dropped.
//
//   worker 0 (chief)   worker 1   worker 2   worker 3      gradients of 50 digits each
//        └────── push ────┴──────────┘     late: ✗
//            ps 0   three of one step ── mean ── momentum ── all go on with the next step
//
#include <pinion/pinion.hpp>

#include "mnist_options.hpp"
#include "model.hpp"
#include "stopwatch.hpp"

namespace pn = pinion;
namespace tr = pinion::train;

struct team {
  int needed, backups;
  int workers() const { return needed + backups; }
};

// A worker's program: a graph, a session and batches of its own, as in 14_mnist_cluster.
void work(int task, const team& team, pn::local_cluster& cluster, const mnist::options& o,
          const mnist::dataset& digits) {
  pn::graph g;
  const auto use = g.as_default();
  const std::string me = "/job:worker/task:" + std::to_string(task);
  const pn::device on{pn::replica_device_setter{{.worker_device = me, .cluster = cluster.spec()}}};

  constexpr std::int64_t batch = 50;
  const std::int64_t last = o.epochs * (static_cast<std::int64_t>(digits.train.count) / batch) / team.needed;
  const mnist::model m = mnist::build(5, 160, o.seed, .1);
  auto step = tr::get_or_create_global_step();
  tr::sync_replicas sync{tr::momentum{{.learning_rate = mnist::rate(.04, step, last), .momentum = .95}},
                         {.replicas_to_aggregate = team.needed, .total_num_replicas = team.workers(), .replica = task}};
  auto train = sync.minimize(m.loss, {.global_step = step});

  const bool is_chief = task == 0;
  const tr::final_ops test({.feeds = {{m.pixels, images(digits.test)}, {m.y, labels(digits.test)}},
                            .fetches = {m.accuracy, sync.counts().totals}});
  std::vector<tr::any_hook> hooks{sync.make_session_run_hook(is_chief), tr::stop_at_step({.last_step = last}),
                                  tr::nan_tensor(m.loss)};
  if (is_chief) hooks.push_back(test);
  tr::monitored_training_session sess{
      {.master = cluster.target("worker", task), .is_chief = is_chief, .hooks = hooks, .log_step_count_steps = 0}};
  mnist::batches batches(digits.train, batch, static_cast<std::uint64_t>(100 * o.seed + task));
  const stopwatch watch;
  while (!sess.should_stop()) {
    const auto [x, y] = batches.next();
    sess.run({{m.X, x}, {m.y, y}}, train);
  }
  if (!is_chief) return;
  watch.report(sess.raw_session().run(step));
  sess.close();
  const pn::tensor<std::int64_t> totals(test.values()[1]);
  fmt::print("{} gradients of 50 digits counted, {} came late\n", totals(0), totals(1));
  fmt::print("test accuracy {:.4f}\n", float(pn::tensor<float>(test.values()[0])));
}

int main(int argc, char** argv) try {
  command_line line("Trains a network of five hidden layers on handwritten digits, by several workers in step.");
  mnist::options o;
  team team{.needed = 3, .backups = 1};
  o.add_to(line);
  line.add("--needed", team.needed, "gradients of an update", {1, 64});
  line.add("--backups", team.backups, "workers beyond these", {0, 64});
  if (const auto status = line.parse(argc, argv)) return *status;
  const auto digits = o.digits();
  fmt::print("{}\n", digits.source);
  pn::local_cluster cluster{{{"ps", 1}, {"worker", team.workers()}}};
  tr::run_in_threads(team.workers(), [&](int task) {
    work(task, team, cluster, o, digits);
    return false;  // once
  });
  return 0;
} catch (const pn::error& e) {
  fmt::print(stderr, "mnist_sync: {}\n", e.what());
  return 1;
}
