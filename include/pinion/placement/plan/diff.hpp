// The difference of two plans: nodes that moved, went and came.
#pragma once

#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/plan/plan.hpp>

namespace pinion { inline namespace v0 {

// Nodes are matched by name. A value. A node that has another name is one that went and one that came. Times are
// estimates of each plan's own cost model.
struct plan_diff {
  struct moved_node {
    std::string name, from, to;
    std::string reason;  // in the second plan
  };
  std::vector<moved_node> moved;
  std::vector<std::string> only_in_first, only_in_second;
  double makespan_first = 0, makespan_second = 0;  // seconds, as estimated

  // Do both plans have the same nodes on the same devices?
  bool empty() const { return moved.empty() && only_in_first.empty() && only_in_second.empty(); }
};

// Compares, say, two placers, or a plan before and after a change of the model:
//
//   fmt::print("{}", pn::diff(before, sess.plan(loss)));
plan_diff diff(const plan& first, const plan& second);

// A line for each difference: "mul: /…/device:CPU:0 -> /…/device:GPU:0 (first device)", "- gone", "+ new". Plans that
// agree are "the same nodes on the same devices"; otherwise the last line has both makespans.
std::string to_string(const plan_diff& d);

}}  // namespace pinion::v0

template <>
struct fmt::formatter<pinion::plan_diff> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(const pinion::plan_diff& d, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(to_string(d), context);
  }
};

#if PINION_HEADER_ONLY
#include <pinion/placement/plan/diff.ipp>
#endif
