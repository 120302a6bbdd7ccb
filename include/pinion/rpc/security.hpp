// Knowing each other: a shared key, proven by both sides without being sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

inline constexpr std::size_t nonce_size = 16, proof_size = 32;

std::uint64_t random_number();

// Random bytes, used once.
std::string nonce();

// HMAC-SHA256 (RFC 2104) of what both sides know of this connection; empty without a key, and only then: throws
// internal where OpenSSL refuses it (SHA-256 switched off by a policy, a key beyond 2 GiB), since two empty proofs are
// equal.
std::string proof(std::string_view key, std::string_view statement);

// What a side is told that has another key than the task it speaks to, or only one of them has any.
error wrong_key(const std::string& task, bool has, bool given);

// In a time that does not depend on where they differ.
inline bool same_proof(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/security.ipp>
#endif
