// Bodies of <pinion/distributed/wire/task_searches.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/distributed/wire/task_searches.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL const task_search* task_searches::find(const std::string& task) const {
  const auto at = under_way_.find(task);
  return at == under_way_.end() ? nullptr : &at->second;
}

PINION_DECL task_searches::noted task_searches::note(const hearsay& what, time_point until, bool is_of_unknown) {
  const auto [at, is_new] = under_way_.emplace(what.task, task_search{what.where, what.by, until, is_of_unknown});
  task_search& so_far = at->second;
  const std::string first = so_far.where.address, second = so_far.other.address;
  const bool is_later = what.where.incarnation > so_far.where.incarnation;
  if (!is_new && what.by != so_far.by) {
    so_far.other = is_later ? so_far.where : what.where;
    so_far.other_by = is_later ? so_far.by : what.by;
  }
  if (is_later) so_far.where = what.where, so_far.by = what.by;
  // A word that comes again does not change the place.
  return {is_new, is_new || first != so_far.where.address || second != so_far.other.address};
}

PINION_DECL std::size_t task_searches::of_unknown(const std::string& by) const {
  return static_cast<std::size_t>(std::count_if(under_way_.begin(), under_way_.end(), [&](const auto& one) {
    return one.second.is_of_unknown && (by.empty() || one.second.by == by);
  }));
}

PINION_DECL bool task_searches::has_room_for(const hearsay& of) const {
  return under_way_.contains(of.task) || (of_unknown() < most_ && of_unknown(of.by) < most_ / 4);
}

PINION_DECL void task_searches::keep_for_later(const hearsay& of) {
  const auto of_the_same = [&](const hearsay& other) { return other.by == of.by; };
  if (heard_.size() < most_heard &&
      std::count_if(heard_.begin(), heard_.end(), of_the_same) < std::ptrdiff_t{most_heard / 4})
    heard_.push_back(of);
}

PINION_DECL void task_searches::take_waiting(std::vector<hearsay>& into) {
  for (std::size_t room = most_ - std::min(most_, of_unknown()); room > 0 && !heard_.empty(); --room) {
    into.push_back(std::move(heard_.front()));
    heard_.pop_front();
  }
}

}}}  // namespace pinion::v0::distributed
