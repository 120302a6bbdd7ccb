// A request to a task to stop.
#pragma once

#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/distributed/client/remote_session.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Asks a task to stop when it is made, which blocks the calling thread until the task has agreed. Throws unavailable if
// the task does not answer soon, unauthenticated for wrong credentials. For one thread, which is not the network's.
class stop_request {
 public:
  stop_request(const std::shared_ptr<rpc::network>& net, const std::string& address, const std::string& task,
               const security_options& security);
  // Blocks until the port of the task is free, or for as long as the task has said that it may take.
  void wait();

 private:
  client_way to_;
  const std::shared_ptr<countdown> gone_ = std::make_shared<countdown>();
  time_point until_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/client/stop_request.ipp>
#endif
