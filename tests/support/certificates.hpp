// Certificates for tests, made when they run: authorities, and what they sign.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include <pinion/base/security_options.hpp>

#include <support/temporary_folder.hpp>

namespace certificates {

namespace detail {

inline void well(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("OpenSSL refuses ") + what);
}

inline std::string text_of(BIO* from) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(from, &bytes);
  std::string text(bytes, static_cast<std::size_t>(size));
  BIO_free(from);
  return text;
}

inline void add_extension(X509* to, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  well(made != nullptr, "an extension");
  X509_add_ext(to, made, -1);
  X509_EXTENSION_free(made);
}

}  // namespace detail

// A certificate with its private key.
struct pair {
  std::shared_ptr<EVP_PKEY> key{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  std::shared_ptr<X509> certificate{X509_new(), &X509_free};

  std::string certificate_text() const {
    BIO* const to = BIO_new(BIO_s_mem());
    detail::well(PEM_write_bio_X509(to, certificate.get()) == 1, "a PEM");
    return detail::text_of(to);
  }
  std::string key_text() const {
    BIO* const to = BIO_new(BIO_s_mem());
    detail::well(PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1, "a PEM");
    return detail::text_of(to);
  }
};

// When a certificate begins and ends to be valid, in seconds from now.
struct validity {
  long from = -3600, to = 3600;
};

enum class kind { end, authority };

// A certificate for hosts such as "DNS:ps,IP:127.0.0.1", signed by an issuer; by itself, as an authority, without one.
inline pair make(const std::string& name, const pair* issuer, const std::string& hosts = {}, validity when = {},
                 kind what = kind::end) {
  static long number = 0;
  pair made;
  X509* const x = made.certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), ++number);
  X509_gmtime_adj(X509_getm_notBefore(x), when.from);
  X509_gmtime_adj(X509_getm_notAfter(x), when.to);
  X509_set_pubkey(x, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509* const by = issuer ? issuer->certificate.get() : x;
  X509_set_issuer_name(x, X509_get_subject_name(by));
  detail::add_extension(x, by, NID_basic_constraints,
                        issuer && what == kind::end ? "critical,CA:FALSE" : "critical,CA:TRUE");
  if (!hosts.empty()) detail::add_extension(x, by, NID_subject_alt_name, hosts);
  detail::well(X509_sign(x, issuer ? issuer->key.get() : made.key.get(), EVP_sha256()) > 0, "a signature");
  return made;
}

// Files of credentials in a folder of their own.
class files {
 public:
  std::string put(const std::string& name, const std::string& text, unsigned mode = 0600) const {
    const std::string path = folder_.path(name);
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms(mode));
    return path;
  }
  // The options of a side with that certificate, which trusts those that an authority has signed.
  pinion::security_options options(const std::string& name, const pair& own, const pair& authority) const {
    return {.certificate = put(name + ".pem", own.certificate_text(), 0644),
            .private_key = put(name + ".key", own.key_text()),
            .authorities = put(name + ".authorities.pem", authority.certificate_text(), 0644)};
  }

 private:
  temporary_folder folder_;
};

}  // namespace certificates
