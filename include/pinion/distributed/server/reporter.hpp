// Tells the state of a task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/distributed/master/master.hpp>
#include <pinion/distributed/report/task_report.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The parts of a server that its report tells of. They outlive the reporter.
struct report_sources {
  const rpc::identity& me;
  const std::string& address;
  const rpc::network& net;
  runtime::task& task;
  const distributed::peers& peers;
  const exchange& values;
  const distributed::worker& worker;
  const distributed::master& master;
  const rpc::traffic& traffic;
  const rpc::slab_account& slabs;
  const server_limits& limits;
};

// A part of a report that only the network's thread can tell.
struct told_by_network {
  backlog_report backlog = {};
  std::vector<client_report> clients = {};
};

// Makes the reports of one task. Owned by its server. Thread-safe; not for the network's thread, since it takes locks
// and looks at all variables of the task.
class reporter {
 public:
  explicit reporter(const report_sources& from) : from_(from), began_(from.net.now()) {}

  task_report report(told_by_network&& net) const;

 private:
  const report_sources from_;
  const time_point began_;
};

// Leaves in each list of a report its first rows: at most task_report::most_rows, and as many as take
// `most_bytes_of_list` on the wire, so that no names that clients choose make it longer than those who look will read.
void shorten(task_report& r);
inline constexpr std::size_t most_bytes_of_list = std::size_t{15} << 17;  // eight lists, and 16 MiB are read

traffic_counts counts_of(const rpc::traffic& all);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/reporter.ipp>
#endif
