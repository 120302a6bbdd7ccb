// A cluster of three tasks in one program, on free ports: a variable on a ps, and two workers that count it up.
//
//   /job:ps/task:0      /job:worker/task:0     /job:worker/task:1
//        v  ◄── add 2 ──────┘                       │
//        └──── read, times 10 ──────────────────────┘
//
#include <pinion/distributed.hpp>

namespace pn = pinion;

int main() try {
  pn::local_cluster cluster{{{"ps", 1}, {"worker", 2}}};

  // Variables go to ps tasks, everything else to worker 0, unless a guard inside says otherwise.
  const pn::device on{pn::replica_device_setter{{.worker_device = "/job:worker/task:0", .cluster = cluster.spec()}}};
  auto v = pn::variable(1.0f, {.name = "v"});
  auto add = pn::assign_add(v, 2.0f);
  const pn::device second{"/job:worker/task:1"};
  auto tenfold = v * 10.0f;

  pn::session sess{{.target = cluster.target("worker", 0), .operation_timeout = std::chrono::seconds(10)}};
  fmt::print("{}\n", sess.plan(add, tenfold));
  sess.run(v.initializer());
  sess.run(add);
  sess.run(add);

  // Another client, another task: the state is the cluster's, and stays when a session ends.
  pn::session other{{.target = cluster.target("worker", 1), .operation_timeout = std::chrono::seconds(10)}};
  float result = other.run(tenfold);
  fmt::print("{}\n", result);
} catch (const pn::error& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
