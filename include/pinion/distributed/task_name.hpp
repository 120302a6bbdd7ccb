// What tasks are called.
#pragma once

#include <string>
#include <string_view>

namespace pinion::inline v0::distributed {

// "/job:ps/replica:0/task:0".
inline std::string task_name(std::string_view job, int task) {
  return "/job:" + std::string(job) + "/replica:0/task:" + std::to_string(task);
}

}  // namespace pinion::inline v0::distributed
