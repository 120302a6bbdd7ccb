// Bodies of <pinion/rpc/security/tls.hpp>.
#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>

#include <pinion/base/error.hpp>
#include <pinion/rpc/security/certificate.hpp>
#include <pinion/rpc/security/openssl.hpp>
#include <pinion/rpc/security/secret_file.hpp>
#include <pinion/rpc/security/tls.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

// The reason that OpenSSL gives for what just failed in this thread; forgets it.
inline std::string openssl_reason() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason ? reason : "it gives no reason";
}

inline error not_pem(const std::string& what, const std::string& path, const std::string& expected) {
  return error(errc::invalid_argument,
               what + " '" + path + "' does not hold " + expected + " in PEM: " + openssl_reason());
}

// The text of a file as OpenSSL reads it. Refers to the text.
inline std::unique_ptr<BIO, decltype(&BIO_free)> reading(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

using certificate_ref = std::unique_ptr<X509, decltype(&X509_free)>;

inline certificate_ref next_certificate(BIO* from) {
  return {PEM_read_bio_X509(from, nullptr, nullptr, nullptr), &X509_free};
}

inline void use_certificate(SSL_CTX* context, const std::string& path) {
  const std::string text = read_credential(path, "the certificate", readers::anybody);
  const auto from = reading(text);
  const auto own = next_certificate(from.get());
  if (!own) throw not_pem("the certificate", path, "a certificate");
  if (SSL_CTX_use_certificate(context, own.get()) != 1) throw not_pem("the certificate", path, "one that can be used");
  while (const auto between = next_certificate(from.get())) SSL_CTX_add1_chain_cert(context, between.get());
  ERR_clear_error();  // of the end of the file
}

inline void use_private_key(SSL_CTX* context, const std::string& path, const std::string& certificate) {
  const std::string text = read_credential(path, "the private key", readers::owner);
  const auto from = reading(text);
  const auto no_passphrase = [](char*, int, int, void*) { return -1; };
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(from.get(), nullptr, no_passphrase, nullptr), &EVP_PKEY_free);
  if (!key) throw not_pem("the private key", path, "a private key without a passphrase");
  if (SSL_CTX_use_PrivateKey(context, key.get()) == 1 && SSL_CTX_check_private_key(context) == 1) return;
  ERR_clear_error();
  throw error(errc::invalid_argument,
              "the private key '" + path + "' is not that of the certificate '" + certificate + "'");
}

// Builds the chain that is shown: from the certificate to its authority, without that. By itself OpenSSL would look for
// it again for every connection, and send the authority too, which each peer then would keep in memory.
inline void build_chain(SSL_CTX* context) {
  SSL_CTX_build_cert_chain(context, SSL_BUILD_CHAIN_FLAG_UNTRUSTED | SSL_BUILD_CHAIN_FLAG_NO_ROOT |
                                        SSL_BUILD_CHAIN_FLAG_IGNORE_ERROR | SSL_BUILD_CHAIN_FLAG_CLEAR_ERROR);
  SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN);
  ERR_clear_error();  // a peer may know what is missing here
}

inline void trust(SSL_CTX* context, const std::string& path) {
  const std::string text = read_credential(path, "the file of authorities", readers::anybody);
  const auto from = reading(text);
  int n = 0;
  while (const auto authority = next_certificate(from.get()))
    n += X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get());
  if (n == 0) throw not_pem("the file of authorities", path, "a certificate");
  ERR_clear_error();  // of the end of the file
}

}  // namespace detail

PINION_DECL tls_files::tls_files(const std::string& certificate, const std::string& private_key,
                                 const std::string& authorities)
    : authorities_(authorities), context_((detail::keep_openssl_at_exit(), SSL_CTX_new(TLS_method())), &SSL_CTX_free) {
  SSL_CTX* const c = context_.get();
  if (!c || SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) != 1)
    throw error(errc::internal, "OpenSSL refuses TLS 1.3: " + detail::openssl_reason());
  SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS);  // idle connections need no memory for records
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(c, 0);
  detail::use_certificate(c, certificate);
  detail::use_private_key(c, private_key, certificate);
  detail::trust(c, authorities);
  detail::build_chain(c);
  tasks_ = detail::tasks_of(SSL_CTX_get0_certificate(c));
  for (const std::string& name : tasks_)
    if (!detail::is_task(name))
      throw error(errc::invalid_argument, "the certificate '" + certificate + "' is for '" + name +
                                              "', which is no task; one looks like /job:ps or /job:ps/task:0");
}

PINION_DECL std::string tls_files::why_not(const std::string& task) const {
  const auto is_for_it = [&](const std::string& name) { return detail::covers(name, task); };
  return tasks_.empty() || std::any_of(tasks_.begin(), tasks_.end(), is_for_it) ? "" : detail::not_for(tasks_, task);
}

}}}  // namespace pinion::v0::rpc
