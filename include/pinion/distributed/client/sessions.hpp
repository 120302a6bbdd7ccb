// Registers the target scheme "pinion://", so that session_options::target may name a task of a cluster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/backend.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Makes the backend of a session whose master is at options.target: a task in another process, or a server of this one,
// which is called directly. It refers to the graph, which must outlive it. Throws invalid_argument for a target of
// another form; the first call, not this one, waits for the target.
std::unique_ptr<runtime::session_backend> make_remote_session(const session_options& options, graph& g);

// Does the work of session::reset.
void reset_cluster(const std::string& target, const std::vector<std::string>& containers,
                   const security_options& security);

inline constexpr runtime::remote_scheme tcp_sessions{&make_remote_session, &reset_cluster};

// Enters the scheme once for the program, whichever of its units include this header.
[[gnu::used]] inline const bool sessions_are_known = (runtime::enter_remote_scheme(&tcp_sessions), true);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/client/sessions.ipp>
#endif
