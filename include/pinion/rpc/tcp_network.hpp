// The network of this machine: TCP over Asio, one thread for all of this process.
#pragma once

#include <memory>

#include <pinion/base/config.hpp>
#include <pinion/rpc/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// The one of this process; made when it is first asked for, gone when nobody holds it: then its thread is joined.
std::shared_ptr<network> tcp_network_of_this_process();

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/tcp_network.ipp>
#endif
