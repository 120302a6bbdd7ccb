// Bodies of <pinion/rpc/task_state.hpp>.
#pragma once

#include <pinion/base/seconds_text.hpp>
#include <pinion/rpc/task_state.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL std::string_view to_string(task_state s) {
  constexpr std::string_view names[] = {"joining", "running", "finished", "stopped", "dead"};
  return names[static_cast<std::size_t>(s)];
}

PINION_DECL error farewell(const std::string& task, task_state as) {
  return error(errc::unavailable, task + (as == task_state::finished ? " has finished" : " was stopped")).in_task(task);
}

PINION_DECL error is_stopping(const std::string& task) {
  return error(errc::unavailable, task + " is stopping, and begins nothing more").in_task(task);
}

PINION_DECL task_state state_after(const error& why) {
  for (const task_state left : {task_state::finished, task_state::stopped})
    if (!why.task().empty() && why.sentence() == farewell(why.task(), left).sentence()) return left;
  return task_state::dead;
}

PINION_DECL std::string to_string(const task_view& v) {
  std::string text(to_string(v.state));
  if (v.silence) text += ", last heard " + seconds(*v.silence) + " ago";
  if (!v.reason.empty()) text += ": " + v.reason;
  return text;
}

PINION_DECL std::string seconds(duration d) {
  return seconds_text(d);
}

}}}  // namespace pinion::v0::rpc
