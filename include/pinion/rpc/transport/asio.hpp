// Includes Asio in one way everywhere: standalone, with coroutines on every compiler. This header brings the types that
// interfaces mention; bodies include <pinion/rpc/transport/asio_io.hpp>.
#pragma once

#if !defined(ASIO_STANDALONE)
#define ASIO_STANDALONE 1
#endif
#if defined(__clang__) && !defined(ASIO_HAS_CO_AWAIT)  // Asio 1.22 does not find them in clang 14 with libstdc++
#define ASIO_HAS_CO_AWAIT 1
#define ASIO_HAS_STD_COROUTINE 1
#endif

#if defined(__SANITIZE_THREAD__) && !defined(ASIO_DISABLE_FENCED_BLOCK)  // ThreadSanitizer does not support fences
#define ASIO_DISABLE_FENCED_BLOCK 1
#endif

#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>

namespace pinion { inline namespace v0 { namespace rpc {
using asio::awaitable;
}}}  // namespace pinion::v0::rpc
