// Handwritten digits, in-graph: one program builds a replica of the network for each worker, in one graph; one session
// runs it, and a thread for each replica trains, asynchronously.
//
//   this program ── one graph, one session, three threads
//      │ replica_0              │ replica_1              │ replica_2
//   worker 0: head 0, its gradients of 50 digits ...  worker 2: head 2
//      └──────── hidden layers ─┼─ gradients ────────────┘
//                             ps 0           what all share; a head and momenta for each replica
//
#include <pinion/pinion.hpp>

#include "mnist_options.hpp"
#include "model.hpp"
#include "stopwatch.hpp"

namespace pn = pinion;
namespace tr = pinion::train;

struct tower {
  mnist::model m;
  pn::operation train;
};

void train(const mnist::options& o, int workers) {
  const auto digits = o.digits();
  fmt::print("{}\n", digits.source);
  constexpr std::int64_t batch = 50;
  const std::int64_t last = o.epochs * (static_cast<std::int64_t>(digits.train.count) / batch);

  pn::local_cluster cluster{{{"ps", 1}, {"worker", workers}}};
  std::vector<std::string> devices;
  for (int i = 0; i < workers; ++i) devices.push_back("/job:worker/task:" + std::to_string(i));

  std::vector<mnist::layer> hidden;
  pn::variable_handle<std::int64_t> step;
  {
    const pn::device shared{"/job:ps/task:0"};
    hidden = mnist::make_hidden(5, 160, o.seed);
    step = tr::get_or_create_global_step();
  }
  const auto towers = tr::replicate(devices, {.cluster = cluster.spec()}, [&](int i) {
    const mnist::model m = mnist::make_head(hidden, o.seed + 100 + i, .1);
    const tr::momentum optimizer{{.learning_rate = mnist::rate(.01, step, last), .momentum = .95}};
    return tower{m, optimizer.minimize(m.loss, {.global_step = step})};
  });

  pn::session sess{{.target = cluster.target("worker", 0)}};
  sess.run(pn::global_variables_initializer());
  std::vector<mnist::batches> batches;
  for (int i = 0; i < workers; ++i)
    batches.emplace_back(digits.train, batch, static_cast<std::uint64_t>(100 * o.seed + i));
  const stopwatch watch;
  tr::run_in_threads(workers, [&](std::size_t i) {
    const auto& [m, train] = towers[i];
    const auto [x, y] = batches[i].next();
    const std::int64_t now = sess.run({{m.X, x}, {m.y, y}}, step, train);
    return now + 1 < last;
  });
  watch.report(sess.run(step));
  for (std::size_t i = 0; i < towers.size(); ++i)
    fmt::print("worker {}: test accuracy {:.4f}\n", i, mnist::test(sess, towers[i].m, digits.test));
}

int main(int argc, char** argv) try {
  command_line line("Trains replicas of a network of five hidden layers on handwritten digits, in one graph.");
  mnist::options o;
  int workers = 3;
  o.add_to(line);
  line.add("--workers", workers, "replicas of the network", {1, 64});
  if (const auto status = line.parse(argc, argv)) return *status;
  train(o, workers);
  return 0;
} catch (const pn::error& e) {
  fmt::print(stderr, "mnist_in_graph: {}\n", e.what());
  return 1;
}
