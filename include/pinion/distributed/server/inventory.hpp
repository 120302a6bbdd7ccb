// The rows of a task's report that tell what it keeps: devices, variables and queues.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/distributed/report/task_report.hpp>

namespace pinion { inline namespace v0 {
namespace runtime {
class task;
}
namespace distributed {

// Adds the rows. It does not wait for updates of variables; but it looks at all, so it is not for the network's thread.
void take_inventory(runtime::task& of, task_report& into);

}  // namespace distributed
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/inventory.ipp>
#endif
