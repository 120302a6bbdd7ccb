// The states of a task, as those who speak to it know them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

enum class task_state : std::uint8_t {
  joining,   // it was not met so far
  running,   // it answers heartbeats
  finished,  // it said that its program has ended
  stopped,   // it said that it was asked to stop
  dead,      // it was lost without a word
};

// Returns the name of a state, such as "running".
std::string_view to_string(task_state s);

// Returns the error by which a task takes leave of its peers, finished or stopped. It is unavailable, in that task.
error farewell(const std::string& task, task_state as);
// Returns the error by which a task that is about to leave refuses what is new.
error is_stopping(const std::string& task);
// Returns the state in which a peer is whose connection ended for a reason: finished or stopped if that is its
// farewell.
task_state state_after(const error& why);

// A task as one of its peers sees it. A value.
struct task_view {
  task_state state = task_state::joining;
  std::optional<duration> silence;  // since it was last heard; none before the first time
  std::string reason = {};          // why it is not there, as far as is known; "" if it runs
  std::string values_by = {};       // how large values go there: "shared memory", "TCP" or "TLS"; "" if it does not run
};
// Returns a text such as "running, last heard 0.2 s ago" or "joining: cannot connect to ps:1: Connection refused".
std::string to_string(const task_view& v);

// Returns a time in seconds, with a tenth, such as "3.1 s".
std::string seconds(duration d);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/task_state.ipp>
#endif
