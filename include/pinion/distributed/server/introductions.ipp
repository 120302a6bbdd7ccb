// Bodies of <pinion/distributed/server/introductions.hpp>.
#pragma once

#include <algorithm>

#include <pinion/distributed/server/introductions.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void introductions::announce() {
  for (const std::string& task : others_.names())
    if (task != me_) others_.way_to(task)->connect(net_.now() + patience, [](const outcome<>&) {});
}

PINION_DECL void introductions::came(const std::string& task) {
  if (task == me_ || !others_.knows(task)) return;
  others_.way_to(task)->connect(net_.now() + patience, [this, task](const outcome<>& met) {
    if (!met) return;
    const auto all = others_.met();
    const auto its = std::find_if(all.begin(), all.end(), [&](const met_task& one) { return one.name == task; });
    if (its == all.end()) return;  // it has left meanwhile
    for (const met_task& other : all) {
      // Tasks of one spec know each other from that.
      if (other.name == task || (other.as_in_spec && its->as_in_spec)) continue;
      tell(task, other);
      tell(other.name, *its);
    }
  });
}

PINION_DECL void introductions::heard(const introduce_task& of) {
  if (of.task == me_) return;
  const auto way = others_.look_for(of.task, {of.address, of.incarnation});
  if (way)
    way->connect(net_.now() + patience, [this, task = of.task](const outcome<>&) { others_.was_looked_for(task); });
}

PINION_DECL void introductions::tell(const std::string& whom, const met_task& of) {
  others_.way_to(whom)->notify(rpc::lane::control, introduce_task::method,
                               rpc::encode(introduce_task{of.name, of.where.address, of.where.incarnation}));
}

}}}  // namespace pinion::v0::distributed
