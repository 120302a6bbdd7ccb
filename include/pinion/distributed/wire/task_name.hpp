// The names of tasks.
#pragma once

#include <string>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Returns a full name such as "/job:ps/replica:0/task:0".
std::string task_name(std::string_view job, int task);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/task_name.ipp>
#endif
