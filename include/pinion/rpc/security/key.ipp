// Bodies of <pinion/rpc/security/key.hpp>.
#pragma once

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <array>
#include <map>
#include <mutex>

#include <pinion/base/process.hpp>
#include <pinion/rpc/security/key.hpp>
#include <pinion/rpc/security/openssl.hpp>
#include <pinion/rpc/security/security.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

inline std::string hmac(std::string_view key, std::string_view text) {
  keep_openssl_at_exit();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  const bool done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(),
                         digest.data(), &length) != nullptr;
  if (!done || length != shared_key::proof_size)
    throw error(errc::internal, "OpenSSL refuses an HMAC-SHA256, so the shared key cannot be proven here");
  return {reinterpret_cast<const char*>(digest.data()), length};
}

inline std::string stretch(std::string_view text) {
  constexpr std::string_view salt = "pinion: the shared key of a cluster";
  constexpr std::uint64_t cost = 1 << 14, memory = std::uint64_t{64} << 20;
  std::string made(shared_key::proof_size, '\0');
  if (EVP_PBE_scrypt(text.data(), text.size(), bytes_of(salt), salt.size(), cost, 8, 1, memory,
                     reinterpret_cast<unsigned char*>(made.data()), made.size()) != 1)
    throw error(errc::internal, "OpenSSL refuses scrypt, so the shared key cannot be used here");
  return made;
}

// The stretched keys of this process, by the SHA-256 of each key.
struct stretched_keys {
  std::mutex mutex;
  std::map<std::string, std::string> all;
};

inline std::string stretched(std::string_view text) {
  keep_openssl_at_exit();
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(bytes_of(text), text.size(), reinterpret_cast<unsigned char*>(digest.data()));
  auto& known = of_this_process<detail::stretched_keys>();
  std::lock_guard one_at_a_time(known.mutex);
  std::string& found = known.all[digest];
  if (found.empty()) found = stretch(text);
  return found;
}

}  // namespace detail

PINION_DECL shared_key::shared_key(std::string_view text) {
  if (text.empty()) return;
  if (text.size() < least_size)
    throw error(errc::invalid_argument, "the shared key has " + std::to_string(text.size()) +
                                            " bytes, and it needs at least " + std::to_string(least_size) +
                                            "; `openssl rand -hex 32` makes a good one");
  const std::string made = detail::stretched(text);
  secrets_[0] = detail::hmac(made, "the client proves\x01");
  secrets_[1] = detail::hmac(made, "the server proves\x01");
}

PINION_DECL std::string shared_key::proof(side of, std::string_view statement) const {
  if (empty()) return {};
  return detail::hmac(secrets_[of == side::client ? 0 : 1], statement);
}

PINION_DECL bool shared_key::equals(const shared_key& other) const {
  return same_proof(secrets_[0], other.secrets_[0]);
}

PINION_DECL error wrong_key(const std::string& task, bool has, bool given) {
  return error(errc::unauthenticated, task + (!given ? " asks for a key, and none is given here"
                                              : !has ? " has no key, and one is given here"
                                                     : " has another key than is given here"));
}

}}}  // namespace pinion::v0::rpc
