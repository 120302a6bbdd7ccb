// The other tasks of a cluster: their addresses, and the channels to them.
//
// The tasks are those of the cluster's spec, and others of its jobs that have joined since: an elastic task says in
// each of its connections where it is reached. By that it is found, too, where it came back elsewhere.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/distributed/report/task_report.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/spec/cluster_spec.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The channels from one task to the others, made when they are first needed and kept until close(). Owned by a server.
// Thread-safe.
class peers {
 public:
  peers(rpc::network& net, const cluster_spec& cluster, rpc::channel_options options);

  std::vector<std::string> names() const;  // sorted by job, then by task
  bool knows(std::string_view task) const;
  std::string address(std::string_view task) const;
  std::shared_ptr<rpc::channel> way_to(std::string_view task);
  // Notes that a task is reached at an address, as this life of it says itself. A channel to it that is up stays where
  // it is until it goes down. Ignored for a task of a job that the cluster does not have, and for more than
  // `most_joined` new ones. Returns false, and ignores it, where a later life of the task has come before.
  bool learn(const std::string& task, const std::string& address, std::uint64_t incarnation);
  // Forgets a task that has joined and is gone; it says where it is when it comes again. Those of the spec are kept.
  void forget(const std::string& task);
  // A task as this one knows it. One that was not needed so far is joining.
  rpc::task_view view_of(std::string_view task) const;
  // Have all of them taken what was to be sent to them? In the network's thread.
  bool have_taken_all() const;
  void close(const error& why);
  // Tells of all tasks but one, which is this task, in the order of names().
  std::vector<peer_report> report(std::string_view but) const;

 private:
  static constexpr std::size_t most_joined = 10'000;
  static bool is_before(const std::string& a, const std::string& b);
  // Requires: the lock is held. Throws not_found.
  const std::string& find(std::string_view task) const;

  rpc::network& net_;
  const rpc::channel_options options_;
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
  std::map<std::string, std::string, std::less<>> addresses_;
  std::set<std::string, std::less<>> joined_;   // those of the names that are not in the spec
  std::map<std::string, std::uint64_t> lives_;  // the latest incarnations that have said where they are
  std::map<std::string, std::shared_ptr<rpc::channel>, std::less<>> ways_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/peers.ipp>
#endif
