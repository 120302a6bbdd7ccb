// The full names of tasks and of their CPUs.
#pragma once

#include <string>

namespace real {

inline std::string cpu_of(const std::string& job, int task) {
  return "/job:" + job + "/replica:0/task:" + std::to_string(task) + "/device:CPU:0";
}
inline std::string name_of(const std::string& job, int task) {
  return "/job:" + job + "/replica:0/task:" + std::to_string(task);
}

}  // namespace real
