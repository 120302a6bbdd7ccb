// The network over TCP (Asio), with one thread for the whole process.
#pragma once

#include <memory>

#include <pinion/base/config.hpp>
#include <pinion/rpc/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Returns the network of this process, made on first use. It is destroyed, and its thread joined, when the last
// reference goes.
std::shared_ptr<network> tcp_network_of_this_process();

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/tcp_network.ipp>
#endif
