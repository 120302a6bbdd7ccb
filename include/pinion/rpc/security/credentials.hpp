// The key and certificates that one side of a connection shows, and asks of the other.
#pragma once

#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/security_options.hpp>
#include <pinion/rpc/security/key.hpp>
#include <pinion/rpc/security/tls.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// The key and the certificates of one side. A value; copies share the certificates.
struct credentials {
  shared_key key = {};
  std::shared_ptr<const tls_files> tls = {};  // null: this side speaks no TLS

  bool empty() const { return key.empty() && !tls; }
};

// Reads the credentials that options and the environment name; see security_options for what it throws. It reads files,
// and may compute for some 40 ms: not for the network's thread.
credentials credentials_of(const security_options& options);

// Throws unauthenticated unless a client with these credentials would be let in by a task with those; for a task of the
// same process, whose certificates are not checked.
void check_local(const std::string& task, const credentials& its, const credentials& given);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/security/credentials.ipp>
#endif
