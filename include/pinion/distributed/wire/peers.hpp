// The other tasks of a cluster: their addresses, and the channels to them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
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
  void close(const error& why);

 private:
  rpc::network& net_;
  const rpc::channel_options options_;
  std::vector<std::string> names_;
  std::map<std::string, std::string, std::less<>> addresses_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<rpc::channel>> ways_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/peers.ipp>
#endif
