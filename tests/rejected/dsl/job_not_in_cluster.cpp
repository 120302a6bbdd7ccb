// expect: is_no_job_of_the_cluster<pinion::
// expect: the cluster has no such job
// expect g++: the cluster has jobs ps worker
// A static cluster knows its jobs.
#include <pinion/graph.hpp>

using cluster = pinion::static_cluster<pinion::job<"ps", 2>, pinion::job<"worker", 3>>;

auto made() {
#ifdef ACCEPT
  return pinion::device{cluster::at<"/job:worker/cpu:0">()};
#else
  return pinion::device{cluster::at<"/job:wrker/cpu:0">()};
#endif
}
