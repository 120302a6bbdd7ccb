// Bodies of <pinion/distributed/wire/task_name.hpp>.
#pragma once

#include <pinion/distributed/wire/task_name.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::string task_name(std::string_view job, int task) {
  return "/job:" + std::string(job) + "/replica:0/task:" + std::to_string(task);
}

}}}  // namespace pinion::v0::distributed
