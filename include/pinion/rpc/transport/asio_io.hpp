// The parts of Asio that read, write and wait.
#pragma once

#include <pinion/rpc/transport/asio.hpp>
//
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Awaits an operation, and tells how it went in a code. Asio would make an exception of that, which takes memory, where
// nobody could catch the want of it.
inline auto telling(asio::error_code& failed) {
  return asio::redirect_error(asio::use_awaitable, failed);
}

// Lets the others of a network's thread go on.
inline awaitable<void> give_way(asio::io_context& context) {
  co_await asio::post(context, asio::use_awaitable);
}

}}}  // namespace pinion::v0::rpc
