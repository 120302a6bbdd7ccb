#include "options.hpp"

#include <CLI/CLI.hpp>

#include <pinion/base/config.hpp>

#include "../support/credentials.hpp"
#include "../support/seconds.hpp"

std::optional<int> status::read(int argc, char** argv, options& into) {
  CLI::App app("Shows what the tasks of a pinion cluster are, have and do.", "pinion_status");
  app.set_version_flag("--version", std::string("pinion_status ") + PINION_VERSION, "Print the version and exit");
  app.add_option("TARGET", into.target, "Any task of the cluster: pinion://host:port, or host:port")
      ->required()
      ->type_name("");
  app.add_flag("--json", into.json, "Print the report as JSON; with --watch, a line of it each time");
  app.add_flag("--watch", into.watch, "Go on until interrupted; in a terminal the page is drawn anew each time");
  app.add_flag("--all", into.all,
               "Show all variables, queues and runs, and not only the first ten of a task, as JSON does");
  app.add_option("--interval", into.interval, "Seconds between two reports of --watch")
      ->check(seconds_between(.1, 3600))
      ->capture_default_str()
      ->type_name("SECONDS");
  app.add_option("--timeout", into.timeout, "Seconds that each task may take to answer")
      ->check(seconds_between(.1, 3600))
      ->capture_default_str()
      ->type_name("SECONDS");
  add_credentials(app, into.security);
  app.footer("Exit status: 0 when TARGET has answered, 1 when it has not, 2 for wrong options.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return exit_code_of(app, e);
  }
  if (into.target.find("://") == into.target.npos) into.target = "pinion://" + into.target;
  return std::nullopt;
}
