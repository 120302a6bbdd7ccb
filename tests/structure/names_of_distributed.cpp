// Public names that <pinion/distributed.hpp> brings by itself, beside those of session.hpp.
#include <pinion/distributed.hpp>

namespace names_of_distributed::of_pinion {

using pinion::backlog_report;
using pinion::client_report;
using pinion::cluster_report;
using pinion::delete_where_made;
using pinion::descriptor_report;
using pinion::device_report;
using pinion::failure_report;
using pinion::inspect;
using pinion::inspect_cluster;
using pinion::local_cluster;
using pinion::log_level;
using pinion::log_line;
using pinion::log_sink;
using pinion::metrics_server;
using pinion::metrics_text;
using pinion::of_each_process;
using pinion::peer_report;
using pinion::pool_report;
using pinion::queue_report;
using pinion::run_report;
using pinion::security_options;
using pinion::server;
using pinion::server_config;
using pinion::server_limits;
using pinion::server_options;
using pinion::session_report;
using pinion::set_log;
using pinion::shared_memory_report;
using pinion::shutdown;
using pinion::step_report;
using pinion::task_report;
using pinion::task_status;
using pinion::traffic_counts;
using pinion::variable_report;
using pinion::write_log;

}  // namespace names_of_distributed::of_pinion
