// Connections between processes of one host. Their ends share memory, and meet by a Unix socket.
//
// A socket has a name that is drawn, and is in no file system; whoever has listened there is told of it by the task
// itself. Both ends see the user of the other's process, and take none but their own.
#pragma once

#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/rpc/transport/network.hpp>
#include <pinion/rpc/transport/poll_list.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Is this the name of a socket as listen_on_host() draws it? A peer that names another is not believed.
bool is_name_on_host(const std::string& name);

// Listens under a name that is drawn, which is the address of the listener; null where the system has no such sockets.
// The list, and the context, outlive what comes of these functions; the account counts the slabs that it is shown.
std::unique_ptr<listener> listen_on_host(asio::io_context& context, poll_list& polls,
                                         std::shared_ptr<slab_account> account);

// Connects to a socket by its name, and gives it memory to share. Throws unavailable if nobody of this user listens
// there, or the system has no memory that can be shared.
awaitable<std::unique_ptr<byte_stream>> connect_on_host(asio::io_context& context, poll_list& polls, std::string name,
                                                        std::shared_ptr<slab_account> account);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/shared_memory/local_network.ipp>
#endif
