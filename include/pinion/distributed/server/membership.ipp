// Bodies of <pinion/distributed/server/membership.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/log.hpp>
#include <pinion/distributed/server/membership.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL membership::membership(rpc::network& net, peers& others, std::string me, bool elastic)
    : net_(net),
      peers_(others),
      me_(std::move(me)),
      is_elastic_(elastic),
      disbelieved_({.before = "does not believe "},
                   [task = me_](const std::string& line) { write_log(log_level::warning, task, line); }) {}

PINION_DECL void membership::announce() {
  if (!is_elastic_) return;
  for (const std::string& task : peers_.names())
    if (task != me_) peers_.route_to(task)->connect(net_.now() + max_wait, [](const outcome<>&) {});
}

PINION_DECL void membership::came(const rpc::peer& who) {
  if (!is_elastic_ || who.name.empty() || who.reached_at.empty()) return;
  const claim what{who.reached_at, who.incarnation, who.spec};
  const bool is_news = !peers_.has_said(who.name, what);
  const std::string why = peers_.learn(who.name, what, who.channel);
  if (!why.empty()) return disbelieved_.add(who.address, why, why, net_.now());
  if (is_news) introduce(who.name);
}

PINION_DECL void membership::introduce(const std::string& task) {
  if (task == me_ || !peers_.knows(task)) return;
  peers_.route_to(task)->connect(net_.now() + max_wait, [this, task](const outcome<>& met) {
    if (!met) return;
    const auto all = peers_.met();
    const auto its = std::find_if(all.begin(), all.end(), [&](const met_task& one) { return one.name == task; });
    if (its == all.end()) return;  // it has left meanwhile
    for (const met_task& other : all) {
      if (other.name == task || know_each_other(other, *its)) continue;
      tell(task, other);
      tell(other.name, *its);
    }
  });
}

PINION_DECL bool membership::know_each_other(const met_task& one, const met_task& other) const {
  const auto as_here = [&](const met_task& task) { return task.as_in_spec && task.where.spec == peers_.spec(); };
  return as_here(one) && as_here(other);
}

PINION_DECL std::optional<opened> membership::notice(const delivery& d) {
  static constexpr handler<membership> notices[] = {{introduce_task::method, &membership::heard}};
  return hand_to<membership>(*this, notices, d);
}

PINION_DECL opened membership::heard(const delivery& d) {
  return rpc::receive<introduce_task>(d.envelope, [this, from = d.peer](introduce_task&& of) {
    if (!is_elastic_ || !peers_.knows(from->name) || of.task == me_ || of.address.size() > longest_address) return;
    look_for({of.task, {of.address, of.incarnation}, from->name});
  });
}

PINION_DECL void membership::sweep() {
  disbelieved_.tell_rest(net_.now());
  if (!is_elastic_) return;
  for (const auto& other : peers_.end_searches(net_.now())) look_for(other);
}

PINION_DECL void membership::look_for(const hearsay& of) {
  const auto until = net_.now() + max_wait;
  if (const auto route = peers_.look_for(of.task, of.where, of.by, until))
    route->connect(until, [](const outcome<>&) {});
}

PINION_DECL void membership::tell(const std::string& whom, const met_task& of) {
  const auto route = peers_.route_to(whom);
  route->connect(net_.now() + max_wait, [route, of](const outcome<>& met) {
    if (!met) return;
    route->notify(rpc::lane::control, introduce_task::method,
                  rpc::encode(introduce_task{of.name, of.where.address, of.where.incarnation}));
  });
}

}}}  // namespace pinion::v0::distributed
