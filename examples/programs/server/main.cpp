// pinion_server: one task of a cluster as a process, until it is asked to stop.
#include <cstdio>
#include <optional>
#include <string>

#include <pinion/base/log.hpp>
#include <pinion/base/stop_signal.hpp>
#include <pinion/distributed.hpp>

#include "../support/cluster_text.hpp"
#include "log.hpp"
#include "options.hpp"

namespace {

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// The options count before the text of the cluster.
pinion::server_options task_of(const server::options& o, const cluster_text& text) {
  const bool told = o.job.empty() || o.job == text.job;
  return {.job = o.job.empty() ? text.job : o.job,
          .task = o.task ? *o.task
                  : told ? text.task.value_or(0)
                         : 0,
          .config = o.config};
}

// Throws for a task that the cluster lacks.
void expect_task(const pinion::cluster_spec& cluster, const pinion::server_options& task) {
  const auto jobs = cluster.jobs();
  if (!task.job.empty() || jobs.size() == 1)
    static_cast<void>(cluster.address(task.job.empty() ? jobs[0] : task.job, task.task));
}

void serve(const pinion::cluster_spec& cluster, const pinion::server_options& task, const server::options& o) {
  // A signal counts from here on; whoever has read the target may send one before join() listens.
  const pinion::stop_listener asked(pinion::stop_stage::serves, [](int) {});
  pinion::server serving(cluster, task);
  const std::string name = serving.report().name;
  if (o.log == server::log_format::json) server::log_as_json(name);
  std::optional<pinion::metrics_server> metrics;
  const bool bare_ipv6 = o.metrics_host.find(':') != std::string::npos && !o.metrics_host.starts_with('[');
  const std::string host = bare_ipv6 ? "[" + o.metrics_host + "]" : o.metrics_host;
  if (o.metrics_port) metrics.emplace(serving, host + ":" + std::to_string(*o.metrics_port));
  say(serving.target());
  if (metrics) say("http://" + metrics->address() + "/metrics");
  serving.join();
  const int signal = pinion::stop_signal_so_far();
  pinion::write_log(
      pinion::log_level::info, name,
      "has stopped" + (signal == 0 ? "" : ", asked by " + std::string(pinion::name_of_stop_signal(signal))));
}

}  // namespace

int main(int argc, char** argv) {
  server::options o;
  if (const auto over = server::read(argc, argv, o)) return *over;
  if (o.log == server::log_format::json) server::log_as_json("");
  int status = 2;  // of wrong options
  try {
    const cluster_text text = read_cluster(o.cluster);
    const pinion::server_options task = task_of(o, text);
    expect_task(text.cluster, task);
    status = 1;
    serve(text.cluster, task, o);
    return 0;
  } catch (const std::exception& e) {
    pinion::write_log(pinion::log_level::error, "", std::string("pinion_server: ") + e.what());
    return status;
  }
}
