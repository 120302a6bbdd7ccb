// What tasks are called.
#pragma once

#include <string>
#include <string_view>

namespace pinion::inline v0::distributed {

// "/job:ps/replica:0/task:0".
inline std::string task_name(std::string_view job, int task) {
  return "/job:" + std::string(job) + "/replica:0/task:" + std::to_string(task);
}
// Of "/job:ps/replica:0/task:0/device:CPU:0".
inline std::string_view task_of_device(std::string_view device) {
  return device.substr(0, device.rfind("/device:"));
}

}  // namespace pinion::inline v0::distributed
