// Files of credentials: the shared key, certificates and private keys.
#pragma once

#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

enum class readers { anybody, owner };  // who may read it, with the group of one that is root's; its owner may write it

// Returns the content of a file of at most 1 MiB. `what` names the file's purpose in errors, such as "the key file".
// Throws not_found if there is no such file, and invalid_argument if it cannot be read whole. Throws
// failed_precondition if its permissions let others write it or, where it is for its owner alone, open it; such a file
// must also belong to the user of this process or to root, and where it is root's, its group may read it. The
// permissions are those of the file that is read, even if another takes its place meanwhile.
std::string read_credential(const std::string& path, const std::string& what, readers allowed);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/security/secret_file.ipp>
#endif
