// A cluster, seen from outside.
//
//   const pn::cluster_report all = pn::inspect_cluster("pinion://10.0.0.1:2222", {.key_file = "key"});
//   for (const pn::task_status& t : all.tasks) fmt::print("{}: {}\n", t.name, t.report ? t.report->state : t.why);
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/security_options.hpp>
#include <pinion/distributed/report/task_report.hpp>

namespace pinion { inline namespace v0 {

// One task of a cluster as a client finds it. A plain value.
struct task_status {
  std::string name, address;
  std::optional<task_report> report;  // none: the task gave no report
  std::string why;                    // the reason for which there is none, a sentence
};

// The tasks of a cluster, by job and number. A plain value.
struct cluster_report {
  std::vector<task_status> tasks;
};

// Asks the task at a target "pinion://host:port" for its state. It blocks the calling thread for at most `max_wait`.
// Texts of a report are what others have named and said, made harmless (see harmless()) and cut after 4 KiB; a report
// of more than 16 MiB, or with more rows than reports have, is refused with data_loss.
//
// Everybody who has the key or certificates of the cluster may ask. It throws unavailable if the task does not answer
// in time, unauthenticated for wrong credentials, and unimplemented if the task is of a version that tells no state.
task_report inspect(const std::string& target, const security_options& security = {},
                    std::chrono::milliseconds max_wait = std::chrono::seconds(5));

// Asks the task at a target for its state and the other tasks of its cluster, then all of those, 64 at a time. It
// throws as inspect() does if the target itself does not answer; another task of which there is no answer when
// `max_wait` has passed a second time is listed with the reason.
cluster_report inspect_cluster(const std::string& target, const security_options& security = {},
                               std::chrono::milliseconds max_wait = std::chrono::seconds(5));

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/status/inspect.ipp>
#endif
