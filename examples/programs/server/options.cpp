#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <pinion/base/config.hpp>
#include <pinion/distributed/report/limits.hpp>

#include "../support/credentials.hpp"
#include "../support/seconds.hpp"

namespace {

void add_task(CLI::App& app, server::options& into) {
  app.add_option(
         "--cluster", into.cluster,
         "The cluster: ps=host:port;worker=host:port,host:port, or of a job one task alone, as for one that joins: "
         "ps=host:port;worker:3=host:port; or JSON as in TF_CONFIG, or @FILE with either, or env for PINION_CLUSTER or "
         "TF_CONFIG")
      ->type_name("CLUSTER")
      ->capture_default_str();
  app.add_option("--job", into.job, "Job of this task; may be left out where the cluster has one, or tells it")
      ->type_name("JOB");
  app.add_option("--task", into.task, "Number of this task in its job; 0 where nothing tells it")
      ->check(CLI::Range(0, 999999999).description(""))
      ->type_name("NUMBER");
  app.add_option(
         "--listen", into.config.listen,
         "Listen here, where that is not the address by which the cluster reaches the task: 0.0.0.0:2222 is each "
         "IPv4 address of this machine")
      ->type_name("HOST:PORT");
  app.add_flag(
      "--elastic", into.config.elastic,
      "Believe tasks with the key of the cluster where they say that they are reached, so that workers may join "
      "and leave");
}

void add_resources(CLI::App& app, server::options& into, double& grace) {
  app.add_option("--cpus", into.config.cpu_devices, "Number of devices /cpu:0, /cpu:1, ...")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("NUMBER")
      ->capture_default_str();
  app.add_option("--grace", grace, "Seconds that steps under way may take to end when the task is asked to stop")
      ->check(seconds_between(0, 86400))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--keep", into.config.keep,
                 "Write the variables to FILE when the task stops, and take them from there when it starts")
      ->type_name("FILE");
}

// The least value of a limit. Graphs need not stay; a task without sessions, say, would serve nobody.
int least_of(std::string_view limit) {
  return limit == "kept_graphs" || limit == "kept_graph_bytes" ? 0 : 1;
}

// Sets a limit of the task as "NAME=VALUE" says. Throws what the parser tells, where there is no such limit or number.
void set_limit(pinion::server_limits& limits, const std::string& text) {
  const std::string wanted = text.substr(0, text.find('='));
  std::string names;
  bool set = false;
  pinion::distributed::for_each_limit(limits, [&](const std::string& name, auto& most) {
    names += (names.empty() ? "" : ", ") + name;
    if (name != wanted) return;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + std::min(name.size() + 1, text.size()), end, most);
    const int least = least_of(name);
    if (read.ec != std::errc() || read.ptr != end || std::cmp_less(most, least))
      throw CLI::ValidationError(
          "--limit", "'" + text + "' needs a number of at least " + std::to_string(least) + ", as in " + name + "=100");
    set = true;
  });
  if (!set) throw CLI::ValidationError("--limit", "there is no limit '" + wanted + "'; the limits are " + names);
}

void add_limits(CLI::App& app, server::options& into) {
  app.add_option_function<std::vector<std::string>>(
         "--limit",
         [&into](const std::vector<std::string>& all) {
           for (const std::string& one : all) set_limit(into.config.limits, one);
         },
         "The most that clients may ask of the task, such as clients=100, or kept_graphs=0 for none; may be given "
         "often")
      ->type_name("NAME=VALUE");
}

void add_views(CLI::App& app, server::options& into) {
  app.add_option("--metrics-port", into.metrics_port, "Answer /metrics and /healthz over HTTP at this port; 0: any")
      ->check(CLI::Range(0, 65535).description(""))
      ->type_name("PORT");
  app.add_option("--metrics-host", into.metrics_host,
                 "Address for that; HTTP here has neither key nor TLS, so others should not reach it")
      ->type_name("HOST")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--log-format",
         [&into](const std::string& format) {
           if (format != "text" && format != "json")
             throw CLI::ValidationError("--log-format", "'" + format + "' is neither text nor json");
           into.log = format == "json" ? server::log_format::json : server::log_format::text;
         },
         "Form of the lines on standard error: text or json")
      ->type_name("FORMAT")
      ->default_str("text");
}

}  // namespace

std::optional<int> server::read(int argc, char** argv, options& into) {
  CLI::App app(
      "Runs one task of a pinion cluster until SIGTERM, SIGINT or a remote shutdown. It prints its target in a line "
      "when it serves, and then where its metrics are.",
      "pinion_server");
  app.set_version_flag("--version", std::string("pinion_server ") + PINION_VERSION, "Print the version and exit");
  double grace = std::chrono::duration<double>(into.config.grace).count();
  add_task(app, into);
  add_resources(app, into, grace);
  add_limits(app, into);
  add_views(app, into);
  add_credentials(app, into.config.security);
  app.footer("Exit status: 0 when it was stopped, 1 when it cannot serve or keep its variables, 2 for wrong options.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return exit_code_of(app, e);
  }
  into.config.grace = std::chrono::milliseconds(std::llround(grace * 1000));
  return std::nullopt;
}
