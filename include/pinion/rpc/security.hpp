// Mutual authentication by a shared key, which both sides prove to know without sending it.
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

// Returns random bytes that are used once.
std::string nonce();

// Returns the HMAC-SHA256 (RFC 2104) of a statement that both sides know; empty if and only if there is no key. Throws
// internal if OpenSSL refuses to compute it (SHA-256 disabled by policy, a key beyond 2 GiB), since two empty proofs
// would be equal.
std::string proof(std::string_view key, std::string_view statement);

// Returns the error for a side whose key differs from the task's, or if only one of the two has a key.
error wrong_key(const std::string& task, bool has, bool given);

// Compares two proofs in a time that does not depend on where they differ.
inline bool same_proof(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/security.ipp>
#endif
