// Bodies of <pinion/rpc/security/security.hpp>.
#pragma once

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <chrono>

#include <pinion/base/error.hpp>
#include <pinion/rpc/security/openssl.hpp>
#include <pinion/rpc/security/security.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {
inline void fill_with_random(void* to, std::size_t bytes) {
  keep_openssl_at_exit();
  if (RAND_bytes(static_cast<unsigned char*>(to), static_cast<int>(bytes)) != 1)
    throw error(errc::internal, "the system gives no random numbers");
}
}  // namespace detail

PINION_DECL std::uint64_t random_number() {
  std::uint64_t n = 0;
  while (n == 0) detail::fill_with_random(&n, sizeof n);
  return n;
}

namespace detail {
inline constexpr int random_bits_of_incarnation = 22;  // the rest holds the milliseconds of 139 years

inline std::uint64_t milliseconds_of(std::chrono::system_clock::duration since_epoch) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count());
}
}  // namespace detail

PINION_DECL std::uint64_t new_incarnation() {
  const std::uint64_t ms = detail::milliseconds_of(std::chrono::system_clock::now().time_since_epoch());
  return ms << detail::random_bits_of_incarnation | random_number() >> (64 - detail::random_bits_of_incarnation) | 1;
}

PINION_DECL bool is_of_the_future(std::uint64_t incarnation) {
  const auto tomorrow = std::chrono::system_clock::now().time_since_epoch() + std::chrono::hours(24);
  return incarnation >> detail::random_bits_of_incarnation > detail::milliseconds_of(tomorrow);
}

PINION_DECL std::string nonce() {
  std::string bytes(nonce_size, '\0');
  detail::fill_with_random(bytes.data(), bytes.size());
  return bytes;
}

PINION_DECL bool same_proof(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}}}  // namespace pinion::v0::rpc
