// A hash of bytes for which nobody finds two contents: SHA-256.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Takes bytes in pieces, and tells the hash of all of them. Where one piece ends and the next begins is not in the
// hash, so whoever hashes several things adds their lengths. Not thread-safe. Throws internal if OpenSSL refuses.
class digest {
 public:
  using hash = std::array<std::uint64_t, 4>;

  digest();
  digest(const digest&) = delete;
  ~digest();

  digest& add(std::string_view bytes);
  digest& add(std::uint64_t number);
  // Returns the hash. Call it once, last.
  hash take();

 private:
  struct state;  // OpenSSL's
  const std::unique_ptr<state> state_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/security/digest.ipp>
#endif
