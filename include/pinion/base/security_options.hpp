// The credentials that a client or task presents to others, as the user gives them.
#pragma once

#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The credentials of a client or task: a shared key, TLS, both or neither. All tasks and clients of a cluster are given
// the same kind. A plain value; files are read when a server, a session or a call uses it.
//
// A key is compared and never sent: both sides prove that they know it. It has at least 16 bytes. Where neither .key
// nor .key_file is set, the key comes from the environment: PINION_KEY holds it, or PINION_KEY_FILE names its file.
// TLS needs all three files, in PEM; each side checks the other's certificate against its own authorities, a client
// that it is for the host it connects to, and both that it is for the task, where certificates name tasks.
//
//   pn::server worker{cluster, {.job = "worker", .security = {.key_file = "cluster.key"}}};
//   pn::session sess{{.target = target, .security = {.certificate = "me.pem", .private_key = "me.key",
//                                                    .authorities = "ca.pem"}}};
//
// Errors: what uses it throws invalid_argument for a key that is too short, for a secret that is given twice or in
// part, and for a file that is no PEM; not_found for a file that is missing; failed_precondition for a key_file or
// private_key that other users of the machine may open, the group of one that is root's excepted. A peer with other
// credentials is unauthenticated.
struct security_options {
  std::string key = {};       // the shared key itself; "": none
  std::string key_file = {};  // the file that holds it, for its owner alone (mode 600); a newline at its end is dropped
  std::string certificate = {};  // the file of this side's certificate, and of those between it and its authority
  std::string private_key = {};  // the file of its private key, for its owner alone and without a passphrase
  std::string authorities = {};  // the file of the certificates of those who may sign for peers

  friend bool operator==(const security_options&, const security_options&) = default;
};

}}  // namespace pinion::v0
