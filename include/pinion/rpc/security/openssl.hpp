// OpenSSL, as this library uses it.
#pragma once

#include <openssl/crypto.h>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc { namespace detail {

// Has OpenSSL stay as it is when the process exits, where it would free what it has while threads are in it. Whoever
// calls OpenSSL calls this before; only the first use of OpenSSL in a process decides. Thread-safe.
inline void keep_openssl_at_exit() {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
}

}}}}  // namespace pinion::v0::rpc::detail
