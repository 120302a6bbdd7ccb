// The ways of one program into a barrier or clock, where its replica meets the others, and the watch over them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/coordinator.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// The nodes by which a replica enters, and hears of the others. A value; the graph owns the nodes.
struct replica_entry {
  expr<std::int64_t> wanted;    // the number that it asks for, which is fed
  expr<std::string> task;       // the task in which it runs, which is fed
  operation here;               // a node in its task
  expr<std::int64_t> got = {};  // the number that it gets
  expr<std::string> news = {};  // drops who is silent for too long, and yields what the replica was not told so far
};

// Makes the placeholders of an entry; its other nodes are made by the caller.
replica_entry make_entry(const std::string& name, const operation& here, source_location where);

// Looks after the other replicas until the coordinator stops: it drops those that are silent for worker_timeout while
// others wait, and writes to the log for whom this one waits, who was dropped and who is back. Blocks.
void look_after_others(session& on, const coordinator& with, const expr<std::string>& news, const std::string& task,
                       std::chrono::milliseconds worker_timeout);

}}}}  // namespace pinion::v0::train::detail

#if PINION_HEADER_ONLY
#include <pinion/train/replicas/replica_entry.ipp>
#endif
