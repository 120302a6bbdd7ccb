// Bodies of <pinion/rpc/security/digest.hpp>.
#pragma once

#include <openssl/evp.h>

#include <pinion/base/error.hpp>
#include <pinion/rpc/security/digest.hpp>
#include <pinion/rpc/security/openssl.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

struct digest::state {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};

  static void expect(bool done) {
    if (!done) throw error(errc::internal, "OpenSSL refuses a SHA-256, so graphs cannot be compared here");
  }
};

PINION_DECL digest::digest() : state_((detail::keep_openssl_at_exit(), std::make_unique<state>())) {
  state::expect(state_->context && EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1);
}

PINION_DECL digest::~digest() = default;

PINION_DECL digest& digest::add(std::string_view bytes) {
  state::expect(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
  return *this;
}

PINION_DECL digest& digest::add(std::uint64_t number) {
  return add(std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
}

PINION_DECL digest::hash digest::take() {
  hash made{};
  unsigned length = 0;
  static_assert(sizeof made == 32);
  state::expect(EVP_DigestFinal_ex(state_->context.get(), reinterpret_cast<unsigned char*>(made.data()), &length) ==
                    1 &&
                length == sizeof made);
  return made;
}

}}}  // namespace pinion::v0::rpc
