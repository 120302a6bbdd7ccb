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
template <class... Jobs>
struct static_cluster : static_jobs<Jobs...> {
  // The tag of a device string. A string that no task of the cluster matches does not compile.
  template <fixed_string S>
  static constexpr auto at() {
    constexpr auto tag = pinion::at<S>;
    static_jobs<Jobs...>::template check<std::remove_cvref_t<decltype(tag)>>();
    return tag;
  }
  // pn::place on a task of the cluster; a task that does not exist does not compile.
  template <fixed_string S, class E>
  static decltype(auto) place(E&& e, source_location where = source_location::current()) {
    using tag = std::remove_cvref_t<decltype(pinion::at<S>)>;
    static_jobs<Jobs...>::template check<
        std::conditional_t<std::is_lvalue_reference_v<E>, tag, merge_t<dsl::place_of<E>, tag>>>();
    return pinion::place<S>(std::forward<E>(e), where);
  }
};

}}  // namespace pinion::v0
