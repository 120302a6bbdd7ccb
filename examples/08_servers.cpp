// The servers of a cluster, from start to end. Each would be in a program of its own; here each has a thread.
//
//   ps 0       serves ─────────────────────── join() returns: shut down from elsewhere
//   worker 0   serves ─── join() returns: stopped by its own program
//   worker 1   serves ──── target of the session ────────────────────── ...
//
#include <pinion/distributed.hpp>

#include <thread>

namespace pn = pinion;

int main() try {
  // Who serves must know everybody's address beforehand. A cluster that goes at once tells which ports are free.
  const pn::cluster_spec cluster = pn::local_cluster{{{"ps", 1}, {"worker", 2}}}.spec();
  for (const auto& job : cluster.jobs()) fmt::print("job {} has {} task(s)\n", job, cluster.num_tasks(job));

  pn::server ps{cluster, {.job = "ps", .task = 0}};
  pn::server first{cluster, {.job = "worker", .task = 0}};
  pn::server second{cluster, {.job = "worker", .task = 1}};
  std::thread serves_ps([&] { ps.join(); });  // blocks until stop(), a signal, or a shutdown
  std::thread serves_first([&] { first.join(); });

  auto v = pn::place<"/job:ps/task:0">(pn::variable(20, {.name = "v"}));
  auto up = pn::assign_add(v, 1);
  pn::session sess{{.target = second.target(), .operation_timeout = std::chrono::seconds(10)}};
  for (const auto& device : sess.list_devices()) fmt::print("{}\n", device.name);
  sess.run(v.initializer());
  fmt::print("v = {}\n", int(sess.run(up)));

  first.stop();  // returns when nothing runs there any more and the port is free
  serves_first.join();
  fmt::print("worker 0 has stopped; v = {}\n", int(sess.run(up)));  // which did not need it

  pn::shutdown(ps.target());  // from any program that may speak to it
  serves_ps.join();
  try {
    sess.run(up);
  } catch (const pn::error& e) {
    fmt::print("ps 0 was shut down: {}, {}\n", to_string(e.code()), e.task());
  }

  // A server on the same address is another incarnation: nothing of the state is left.
  pn::server again{cluster, {.job = "ps", .task = 0}}, back{cluster, {.job = "worker", .task = 0}};
  pn::session next{{.target = back.target(), .operation_timeout = std::chrono::seconds(10)}};
  next.run(v.initializer());
  fmt::print("started again: v = {}\n", int(next.run(v)));
  pn::shutdown(cluster);  // all of them
  second.join();
  fmt::print("all are down\n");
} catch (const pn::error& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
