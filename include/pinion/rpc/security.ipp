// Bodies of <pinion/rpc/security.hpp>.
#pragma once

#include <array>
#include <limits>

#include <pinion/rpc/security.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL std::uint64_t random_number() {
  std::uint64_t n = 0;
  while (n == 0)
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&n), sizeof n) != 1)
      throw error(errc::internal, "the system gives no random numbers");
  return n;
}

PINION_DECL std::string nonce() {
  std::string bytes(nonce_size, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1)
    throw error(errc::internal, "the system gives no random numbers");
  return bytes;
}

PINION_DECL std::string proof(std::string_view key, std::string_view statement) {
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

PINION_DECL error wrong_key(const std::string& task, bool has, bool given) {
  return error(errc::unauthenticated, task + (!given ? " asks for a key, and none is given here"
                                              : !has ? " has no key, and one is given here"
                                                     : " has another key than is given here"));
}

}}}  // namespace pinion::v0::rpc
