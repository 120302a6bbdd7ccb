// expect: job_has_tasks<pinion::
// expect: the job has no such task
// expect g++: job worker has tasks 0..2
// A static cluster knows its tasks.
#include <pinion/graph.hpp>

using cluster = pinion::static_cluster<pinion::job<"ps", 2>, pinion::job<"worker", 3>>;

auto made(pinion::expr<float> x) {
#ifdef ACCEPT
  return cluster::place<"/job:worker/task:2">(x + 1);
#else
  return cluster::place<"/job:worker/task:3">(x + 1);
#endif
}
