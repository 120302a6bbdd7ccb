// Bodies of <pinion/distributed/client/sessions.hpp>.
#pragma once

#include <pinion/distributed/client/remote_session.hpp>
#include <pinion/distributed/client/sessions.hpp>
#include <pinion/rpc/tcp_network.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void reset_cluster(const std::string& target, const std::vector<std::string>& containers,
                               const security_options& security) {
  reset_remote(rpc::tcp_network_of_this_process(), address_of_target(target), containers, security);
}

PINION_DECL std::unique_ptr<runtime::session_backend> make_remote_session(const session_options& options, graph& g) {
  return std::make_unique<remote_session>(options, g, rpc::tcp_network_of_this_process());
}

}}}  // namespace pinion::v0::distributed
