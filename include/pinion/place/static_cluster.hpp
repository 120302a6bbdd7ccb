// A cluster whose tasks are part of its type: placing a node on a task that does not exist does not compile.
#pragma once

#include <utility>

#include <pinion/place/place.hpp>
#include <pinion/spec/static_jobs.hpp>

namespace pinion { inline namespace v0 {

// A type without state, which checks places against its jobs:
//
//   using cluster = pn::static_cluster<pn::job<"ps", 2>, pn::job<"worker", 3>>;
//   auto q = cluster::place<"/job:worker/task:3">(x + 1);   // does not compile: job worker has tasks 0..2
//   pn::device on{cluster::at<"/job:ps/task:1">()};          // a tag, checked
//
// It checks names and task numbers, not addresses: expect(cluster) compares it with the cluster_spec of a run, and
// throws invalid_argument where they differ. Call it once in each process, before the first session.
//
//   cluster::expect(pn::cluster_spec{{"ps", {"a:1", "b:1"}}, {"worker", {"c:1", "d:1", "e:1"}}});
template <class... Jobs>
struct static_cluster : static_jobs<Jobs...> {
  // The tag of a device string. A string that no task of the cluster matches does not compile. A tag without a job is
  // open to every job that has such a task.
  template <fixed_string S>
  static constexpr auto at() {
    constexpr auto tag = pinion::at<S>;
    static_jobs<Jobs...>::template check<std::remove_cvref_t<decltype(tag)>>();
    return tag;
  }
  // pn::place on a task of the cluster; a task that does not exist does not compile. A nested place is checked as
  // merged, so place<"/task:3"> around place<"/job:ps"> asks for task 3 of job ps.
  template <fixed_string S, class E>
  static decltype(auto) place(E&& e, source_location where = source_location::current()) {
    using tag = std::remove_cvref_t<decltype(pinion::at<S>)>;
    static_jobs<Jobs...>::template check<
        std::conditional_t<std::is_lvalue_reference_v<E>, tag, merge_t<dsl::place_of<E>, tag>>>();
    return pinion::place<S>(std::forward<E>(e), where);
  }
};

}}  // namespace pinion::v0
