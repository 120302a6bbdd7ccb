// Fills the scheme pinion:// with sessions of clusters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/backend.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Makes a session at another task, or at a server of this process.
std::unique_ptr<runtime::session_backend> make_remote_session(const session_options& options, graph& g);

void reset_cluster(const std::string& target, const std::vector<std::string>& containers,
                   const security_options& security);

[[gnu::used]] inline const bool sessions_are_known =
    (runtime::remote_sessions() = {&make_remote_session, &reset_cluster}, true);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/client/sessions.ipp>
#endif
