// The network over TCP (Asio), with one thread for the whole process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Returns the network of this process, made on first use. It is destroyed, and its thread joined, when the last
// reference goes. The child of a fork() has a network of its own.
std::shared_ptr<network> tcp_network_of_this_process();

// Connects to the first that answers of some addresses of one host, "127.0.0.1:2222" or "[::1]:2222", on a network over
// TCP. Each is given its part of the time that is left, so that one from which nothing comes does not cost the others
// theirs. Throws what the last of them ended with: unavailable, or deadline_exceeded where nothing answered.
awaitable<std::unique_ptr<byte_stream>> connect_to_any(network& net, std::vector<std::string> numeric,
                                                       time_point deadline);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/tcp_network.ipp>
#endif
