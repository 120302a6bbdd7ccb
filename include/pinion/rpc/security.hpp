// Knowing each other: a shared key, proven by both sides without being sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <pinion/base/error.hpp>

namespace pinion::inline v0::rpc {

inline constexpr std::size_t nonce_size = 16, proof_size = 32;

inline std::uint64_t random_number() {
  std::uint64_t n = 0;
  while (n == 0)
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&n), sizeof n) != 1)
      throw error(errc::internal, "the system gives no random numbers");
  return n;
}

// Random bytes, used once.
inline std::string nonce() {
  std::string bytes(nonce_size, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1)
    throw error(errc::internal, "the system gives no random numbers");
  return bytes;
}

// HMAC-SHA256 (RFC 2104) of what both sides know of this connection; empty without a key, and only then: throws
// internal where OpenSSL refuses it (SHA-256 switched off by a policy, a key beyond 2 GiB), since two empty proofs are
// equal.
inline std::string proof(std::string_view key, std::string_view statement) {
  if (key.empty()) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  const bool fits = key.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  const bool done = fits && HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                 reinterpret_cast<const unsigned char*>(statement.data()), statement.size(),
                                 digest.data(), &length) != nullptr;
  if (!done || length != proof_size)
    throw error(errc::internal, "OpenSSL refuses an HMAC-SHA256, so the shared key cannot be proven here");
  return {reinterpret_cast<const char*>(digest.data()), length};
}

// What a side is told that has another key than the task it speaks to, or only one of them has any.
inline error wrong_key(const std::string& task, bool has, bool given) {
  return error(errc::unauthenticated, task + (!given ? " asks for a key, and none is given here"
                                              : !has ? " has no key, and one is given here"
                                                     : " has another key than is given here"));
}

// In a time that does not depend on where they differ.
inline bool same_proof(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace pinion::inline v0::rpc
