// The shared key: how it is stretched, and how a side proves that it knows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

enum class side { client, server };

// A shared key, or none. A value; it holds what was derived of the key, and not the key.
//
// Derivation: scrypt (RFC 7914; N = 2^14, r = 8, p = 1: 16 MiB and about 40 ms) makes 32 bytes of the key, and one
// block of HKDF-Expand (RFC 5869) makes of those a secret for the proofs of each side. A client proves first, so an
// impostor of a server can take a proof away and try guesses of the key on it: scrypt makes each guess as dear as
// that. It runs once for each key of a process, never for a peer, since otherwise strangers could keep a server busy
// with it; therefore its salt is a constant.
class shared_key {
 public:
  static constexpr std::size_t least_size = 16, proof_size = 32;

  shared_key() = default;
  // Derives a key of a text; "" is no key. Throws invalid_argument for a shorter one than least_size, internal if
  // OpenSSL refuses to compute (scrypt or SHA-256 disabled by policy).
  explicit shared_key(std::string_view text);

  bool empty() const { return secrets_[0].empty(); }
  // Returns the HMAC-SHA256 (RFC 2104) of a statement that both sides know, with the secret of a side; empty if and
  // only if there is no key. Throws internal if OpenSSL refuses to compute it, since two empty proofs would be equal.
  std::string proof(side of, std::string_view statement) const;

  // Compares in a time that does not depend on where the keys differ.
  friend bool operator==(const shared_key& a, const shared_key& b) { return a.equals(b); }

 private:
  bool equals(const shared_key& other) const;

  std::string secrets_[2];  // of the client and of the server
};

// Returns the error for a side whose key differs from the task's, or if only one of the two has a key.
error wrong_key(const std::string& task, bool has, bool given);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/security/key.ipp>
#endif
