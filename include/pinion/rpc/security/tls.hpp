// Certificates for TLS, read from files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <openssl/types.h>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// The certificate and private key of one side, and the authorities that may sign for its peers, ready for any number of
// connections. Shared by them. TLS 1.3 alone is spoken; both sides verify each other, and no session is resumed, so a
// certificate is checked for every connection. Thread-safe, since nothing changes after the construction.
class tls_files {
 public:
  // Reads three PEM files. Throws what read_credential throws for one that cannot be read, invalid_argument for one
  // that is not what it should be, and for a private key that is another certificate's.
  tls_files(const std::string& certificate, const std::string& private_key, const std::string& authorities);

  SSL_CTX* context() const { return context_.get(); }
  const std::string& authorities() const { return authorities_; }  // the name of the file
  // The tasks that the own certificate names.
  const std::vector<std::string>& tasks() const { return tasks_; }
  // Why other tasks refuse a task with this certificate: it names others alone. "" where they do not.
  std::string why_not(const std::string& task) const;

 private:
  std::string authorities_;
  std::shared_ptr<SSL_CTX> context_;
  std::vector<std::string> tasks_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/security/tls.ipp>
#endif
