// Bodies of <pinion/distributed/server/task_server.hpp>.
#pragma once

#include <mutex>
#include <utility>

#include <pinion/distributed/server/task_server.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void leave_to_itself(std::unique_ptr<task_server> still_used) {
  static std::mutex mutex;
  static auto& all = *new std::vector<std::unique_ptr<task_server>>;
  std::lock_guard hold(mutex);
  all.push_back(std::move(still_used));
}

}}}  // namespace pinion::v0::distributed
