// Bodies of <pinion/distributed/wire/peers.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/base/descriptors.hpp>
#include <pinion/distributed/wire/peers.hpp>
#include <pinion/distributed/wire/task_name.hpp>
#include <pinion/rpc/security/digest.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/spec/device_spec.hpp>
#include <pinion/spec/host_port.hpp>
#include <pinion/spec/names.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

namespace detail {

// Throws invalid_argument where an address of a task leads no other task anywhere.
inline void expect_way(const std::string& task, const std::string& address) {
  if (host_port(address).leads_somewhere()) return;
  throw error(
      errc::invalid_argument,
      task + " is at '" + address + "' in the cluster spec, where no other task finds it; write " +
          (host_port(address).port == 0 ? "the port on which it listens" : "the host by which others reach it"));
}

// How many tasks that are not known may be looked for: each takes two descriptors.
inline std::size_t most_sought() {
  return static_cast<std::size_t>(std::min<std::uint64_t>(1000, most_descriptors() / 16));
}

inline std::uint64_t digest_of(const cluster_spec& cluster) {
  rpc::digest all;
  const auto add = [&](const std::string& text) { all.add(std::uint64_t{text.size()}).add(text); };
  for (const std::string& job : cluster.jobs())
    for (const int task : cluster.task_indices(job)) add(task_name(job, task)), add(cluster.address(job, task));
  return all.take()[0];
}

// The order of names(): by job, then by task.
inline bool is_before(const std::string& a, const std::string& b) {
  const device_spec x = parse_device(a), y = parse_device(b);
  return x.job() != y.job() ? natural_less(x.job(), y.job()) : x.task() < y.task();
}

// The claim of the latest life; null: there is none.
inline const claim* latest(const std::map<std::uint64_t, claim>& of_one) {
  const auto at = std::max_element(of_one.begin(), of_one.end(), [](const auto& a, const auto& b) {
    return a.second.incarnation < b.second.incarnation;
  });
  return at == of_one.end() ? nullptr : &at->second;
}

}  // namespace detail

PINION_DECL peers::peers(rpc::network& net, const cluster_spec& cluster, rpc::channel_options options)
    : net_(net), options_(std::move(options)), searches_(detail::most_sought()) {
  for (const auto& job : cluster.jobs()) {
    jobs_.insert(job);
    for (int task : cluster.task_indices(job)) {
      names_.push_back(task_name(job, task));
      if (names_.back() != options_.me.name) detail::expect_way(names_.back(), cluster.address(job, task));
      places_.emplace(names_.back(), place{.address = cluster.address(job, task), .spec = cluster.address(job, task)});
    }
  }
  if (!options_.reached_at.empty()) options_.spec = detail::digest_of(cluster);
}

PINION_DECL std::vector<std::string> peers::names() const {
  std::lock_guard hold(mutex_);
  return names_;
}

PINION_DECL bool peers::knows(std::string_view task) const {
  std::lock_guard hold(mutex_);
  return places_.find(task) != places_.end();
}

PINION_DECL const peers::place& peers::find(std::string_view task) const {
  const auto at = places_.find(task);
  if (at == places_.end()) throw error(errc::not_found, "the cluster has no task " + std::string(task));
  return at->second;
}

PINION_DECL std::string peers::address(std::string_view task) const {
  std::lock_guard hold(mutex_);
  return find(task).address;
}

PINION_DECL std::shared_ptr<rpc::channel> peers::route_to(std::string_view task) {
  std::lock_guard hold(mutex_);
  if (const auto known = routes_.find(task); known != routes_.end())
    return known->second;  // of one that is forgotten, too
  find(task);
  return make_route(std::string(task));
}

PINION_DECL void peers::set_addresses(rpc::channel& route, const std::string& task) const {
  const auto known = places_.find(task);
  const task_search* const its = searches_.find(task);
  if (!its) return route.moved_to({known->second.address}, {known->second.other});
  const bool is_known = known != places_.end();
  route.moved_to({its->where.address, true}, {is_known ? known->second.address : its->other.address, !is_known});
}

PINION_DECL void peers::update_route(const std::string& task) {
  if (const auto route = routes_.find(task); route != routes_.end()) set_addresses(*route->second, task);
}

PINION_DECL std::shared_ptr<rpc::channel> peers::make_route(const std::string& task) {
  rpc::channel_options options = options_;
  options.generations = ++made_ << 32;
  auto route = std::make_shared<rpc::channel>(net_, "", task, std::move(options));
  set_addresses(*route, task);
  return routes_[task] = std::move(route);
}

PINION_DECL std::string peers::learn(const std::string& task, const claim& what, std::uint64_t channel) {
  const std::string disbelief = task + " says that it is reached at " + what.address + ", and is not believed: ";
  if (rpc::is_of_the_future(what.incarnation))
    return disbelief + "it says, too, that it begins more than a day from now, by the clock of this host";
  if (!host_port(what.address).leads_somewhere()) return disbelief + "no other task finds it there";
  std::lock_guard hold(mutex_);
  if (places_.find(task) == places_.end()) {
    if (!may_join(task)) return "";
    join(task);
  }
  auto& all = claims_[task];
  all[channel] = what;
  if (const auto* its = searches_.find(task); its && its->where.incarnation <= what.incarnation) searches_.end(task);
  move(task);
  for (const auto& [other, said] : all)
    if (said.incarnation > what.incarnation)
      return disbelief + "another that began later, by the clocks of their hosts, is at " + said.address;
  return "";
}

PINION_DECL bool peers::may_join(const std::string& task) const {
  const auto read = outcome_of([&] { return parse_device(task); });  // a peer may call itself anything
  const device_spec who = read ? read.value() : device_spec();
  if (who.task() < 0 || task != task_name(who.job(), who.task())) return false;
  return joined_.size() < most_joined && jobs_.contains(who.job());
}

PINION_DECL void peers::join(const std::string& task) {
  names_.insert(std::upper_bound(names_.begin(), names_.end(), task, detail::is_before), task);
  joined_.insert(task);
  places_.emplace(task, place{});
  searches_.end(task);
  std::erase(forgotten_, task);
}

PINION_DECL std::vector<met_task> peers::met() const {
  std::vector<met_task> all;
  std::lock_guard hold(mutex_);
  for (const auto& [task, said] : claims_)
    if (const claim* const best = detail::latest(said)) all.push_back({task, *best, best->address == find(task).spec});
  return all;
}

PINION_DECL bool peers::has_said(const std::string& task, const claim& what) const {
  std::lock_guard hold(mutex_);
  const auto said = claims_.find(task);
  return said != claims_.end() &&
         std::any_of(said->second.begin(), said->second.end(), [&](const auto& one) { return one.second == what; });
}

PINION_DECL std::size_t peers::sought() const {
  std::lock_guard hold(mutex_);
  return searches_.size();
}

PINION_DECL std::shared_ptr<rpc::channel> peers::look_for(const std::string& task, const claim& where,
                                                          const std::string& by, time_point until) {
  if (rpc::is_of_the_future(where.incarnation) || !host_port(where.address).leads_somewhere()) return nullptr;
  std::lock_guard hold(mutex_);
  const auto said = claims_.find(task);
  const claim* const best = said == claims_.end() ? nullptr : detail::latest(said->second);
  if (best && best->incarnation >= where.incarnation) return nullptr;
  const hearsay word{task, where, by};
  const bool is_unknown = places_.find(task) == places_.end();
  if (is_unknown) {
    if (!may_join(task)) return nullptr;
    if (!searches_.has_room_for(word)) return searches_.keep_for_later(word), nullptr;
  }
  const auto noted = searches_.note(word, until, is_unknown);
  if (routes_.find(task) == routes_.end()) return make_route(task);
  if (noted.has_moved) update_route(task);
  return noted.is_new ? routes_.at(task) : nullptr;
}

PINION_DECL bool peers::leads_to_earlier(const std::string& task, const task_search& than) const {
  const auto route = routes_.find(task);
  return route != routes_.end() && route->second->up() && route->second->incarnation() < than.where.incarnation;
}

PINION_DECL std::vector<hearsay> peers::end_searches(time_point now) {
  const auto is_known = [this](const std::string& task) { return places_.find(task) != places_.end(); };
  std::lock_guard hold(mutex_);
  return searches_.end_those(
      [&](const std::string& task, const task_search& one) {
        return one.until <= now && !(is_known(task) && leads_to_earlier(task, one));
      },
      [&](const std::string& task) { is_known(task) ? update_route(task) : close_route(task); });
}

PINION_DECL void peers::close_route(const std::string& task) {
  if (std::find(forgotten_.begin(), forgotten_.end(), task) != forgotten_.end()) return;  // somebody may use it
  const auto route = routes_.extract(task);
  if (route) route.mapped()->close(error(errc::unavailable, task + " has not joined the cluster"));
}

PINION_DECL void peers::move(const std::string& task) {
  place& at = places_.at(task);
  if (const claim* const best = detail::latest(claims_[task]))
    at.address = best->address, at.other = at.spec;
  else if (!at.spec.empty() && at.address != at.spec)
    at.other = std::exchange(at.address, at.spec);
  update_route(task);
}

PINION_DECL void peers::unlearn(const std::string& task, std::uint64_t channel) {
  std::lock_guard hold(mutex_);
  const auto all = claims_.find(task);
  if (all == claims_.end() || all->second.erase(channel) == 0) return;
  move(task);
  if (all->second.empty()) claims_.erase(all);
}

PINION_DECL void peers::forget(const std::string& task) {
  std::lock_guard hold(mutex_);
  claims_.erase(task);
  if (joined_.erase(task) == 0) return;
  places_.erase(task);
  searches_.end(task);  // it is looked for as one that is not known, if somebody tells of it again
  std::erase(names_, task);
  if (routes_.find(task) != routes_.end()) forgotten_.push_back(task);
  close_forgotten();
}

PINION_DECL void peers::close_forgotten() {
  for (std::size_t left = forgotten_.size(); left > 0 && forgotten_.size() > most_forgotten; --left) {
    std::string oldest = std::move(forgotten_.front());
    forgotten_.pop_front();
    const auto route = routes_.find(oldest);
    if (route == routes_.end()) continue;
    if (route->second->up()) {  // somebody uses it
      forgotten_.push_back(std::move(oldest));
      continue;
    }
    route->second->close(error(errc::unavailable, oldest + " has left the cluster"));
    routes_.erase(route);
  }
}

PINION_DECL rpc::task_view peers::view_of(std::string_view task) const {
  std::lock_guard hold(mutex_);
  find(task);
  const auto at = routes_.find(task);
  return at == routes_.end() ? rpc::task_view{} : at->second->view();
}

PINION_DECL void peers::expect(rpc::deliveries& all) const {
  std::lock_guard hold(mutex_);
  for (const auto& [task, route] : routes_) route->expect(all);
}

PINION_DECL void peers::close(const error& why) {
  std::lock_guard hold(mutex_);
  for (const auto& [task, route] : routes_) route->close(why);
}

PINION_DECL std::vector<peer_report> peers::report(std::string_view but) const {
  std::vector<peer_report> all;
  std::lock_guard hold(mutex_);
  for (const auto& name : names_) {
    if (name == but) continue;
    const auto route = routes_.find(name);
    rpc::task_view view = route == routes_.end() ? rpc::task_view{} : route->second->view();
    peer_report& p = all.emplace_back(peer_report{.name = name, .address = find(name).address});
    p.state = to_string(view.state);
    if (view.silence) p.silence = std::chrono::duration<double>(*view.silence).count();
    p.why = std::move(view.reason);
    p.values_by = std::move(view.values_by);
  }
  return all;
}

}}}  // namespace pinion::v0::distributed
