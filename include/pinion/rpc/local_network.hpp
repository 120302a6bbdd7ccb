// Connections between processes of one host, by Unix sockets. Their ends may share memory.
//
// A socket has a name that is drawn, and is in no file system; whoever has listened there is told of it by the task
// itself. Both ends see the user of the other's process, and take none but their own.
#pragma once

#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/rpc/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Is this the name of a socket as listen_on_host() draws it? A peer that names another is not believed.
bool is_name_on_host(const std::string& name);

// Listens under a name that is drawn, which is the address of the listener; null where the system has no such sockets.
std::unique_ptr<listener> listen_on_host(asio::io_context& context);

// Connects to a socket by its name, and offers memory to share with the first bytes that are written. Throws
// unavailable if nobody of this user listens there.
awaitable<std::unique_ptr<byte_stream>> connect_on_host(asio::io_context& context, std::string name);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/local_network.ipp>
#endif
