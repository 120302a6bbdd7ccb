// The names in a certificate: hosts, and tasks of a cluster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <openssl/types.h>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc { namespace detail {

// A certificate names a task by a URI among the subject's alternative names: "pinion:/job:ps/task:0" is that task, and
// "pinion:/job:ps" any task of the job.
inline constexpr std::string_view task_scheme = "pinion:";

// Returns the tasks that a certificate names, without the scheme; none for a null one.
std::vector<std::string> tasks_of(const X509* certificate);
// Is it the name of a task or of a job? A name with a field twice, or with another field, is none.
bool is_task(std::string_view name);
// Is each field of a name the task's, so that "/job:ps" covers "/job:ps/replica:0/task:0"? Only where both are names.
bool covers(std::string_view name, std::string_view task);

// Returns "is for /job:ps, and not for /job:worker/task:0 (subjectAltName=URI:...)", of the names in a certificate.
std::string not_for(const std::vector<std::string>& names, const std::string& task);

// Returns the hosts that a certificate is for: "ps.example, 10.0.0.7, ::1", or "no host".
std::string hosts_of(const X509* certificate);
// Returns the text of a subject or issuer.
std::string name_of(const X509_NAME* name);

}}}}  // namespace pinion::v0::rpc::detail

#if PINION_HEADER_ONLY
#include <pinion/rpc/security/certificate.ipp>
#endif
