// Public names that <pinion/distributed.hpp> brings by itself, beside those of session.hpp: those of README, and more.
#include <pinion/distributed.hpp>

namespace names_of_distributed::of_pinion {

using pinion::inspect;
using pinion::inspect_cluster;
using pinion::local_cluster;
using pinion::metrics_server;
using pinion::security_options;
using pinion::server;
using pinion::server_config;
using pinion::server_options;
using pinion::shutdown;
using pinion::task_report;

}  // namespace names_of_distributed::of_pinion
