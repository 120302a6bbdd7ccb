// Bodies of <pinion/distributed/server/introductions.hpp>.
#pragma once

#include <algorithm>

#include <pinion/distributed/server/introductions.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void introductions::announce() {
  for (const std::string& task : others_.names())
    if (task != me_) others_.route_to(task)->connect(net_.now() + max_wait, [](const outcome<>&) {});
}

PINION_DECL void introductions::came(const std::string& task) {
  if (task == me_ || !others_.knows(task)) return;
  others_.route_to(task)->connect(net_.now() + max_wait, [this, task](const outcome<>& met) {
    if (!met) return;
    const auto all = others_.met();
    const auto its = std::find_if(all.begin(), all.end(), [&](const met_task& one) { return one.name == task; });
    if (its == all.end()) return;  // it has left meanwhile
    for (const met_task& other : all) {
      if (other.name == task || know_each_other(other, *its)) continue;
      tell(task, other);
      tell(other.name, *its);
    }
  });
}

PINION_DECL bool introductions::know_each_other(const met_task& one, const met_task& other) const {
  const auto as_here = [&](const met_task& task) { return task.as_in_spec && task.where.spec == others_.spec(); };
  return as_here(one) && as_here(other);
}

PINION_DECL void introductions::heard(const introduce_task& of, const std::string& by) {
  if (of.task != me_ && of.address.size() <= longest_address) look_for({of.task, {of.address, of.incarnation}, by});
}

PINION_DECL void introductions::sweep() {
  for (const auto& other : others_.end_searches(net_.now())) look_for(other);
}

PINION_DECL void introductions::look_for(const peers::hearsay& of) {
  const auto until = net_.now() + max_wait;
  if (const auto route = others_.look_for(of.task, of.where, of.by, until))
    route->connect(until, [](const outcome<>&) {});
}

PINION_DECL void introductions::tell(const std::string& whom, const met_task& of) {
  const auto route = others_.route_to(whom);
  route->connect(net_.now() + max_wait, [route, of](const outcome<>& met) {
    if (!met) return;
    route->notify(rpc::lane::control, introduce_task::method,
                  rpc::encode(introduce_task{of.name, of.where.address, of.where.incarnation}));
  });
}

}}}  // namespace pinion::v0::distributed
