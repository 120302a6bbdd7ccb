// The other tasks of a cluster: their addresses, and the channels to them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
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

  const std::vector<std::string>& names() const { return names_; }  // sorted by job, then by task
  bool knows(std::string_view task) const { return addresses_.find(task) != addresses_.end(); }
  const std::string& address(std::string_view task) const;
  std::shared_ptr<rpc::channel> way_to(std::string_view task);
  // A task as this one knows it. One that was not needed so far is joining.
  rpc::task_view view_of(std::string_view task) const;
  // Have all of them taken what was to be sent to them? In the network's thread.
  bool have_taken_all() const;
  void close(const error& why);
  // Tells of all tasks but one, which is this task, in the order of names().
  std::vector<peer_report> report(std::string_view but) const;

 private:
  rpc::network& net_;
  const rpc::channel_options options_;
  std::vector<std::string> names_;
  std::map<std::string, std::string, std::less<>> addresses_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<rpc::channel>, std::less<>> ways_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/peers.ipp>
#endif
