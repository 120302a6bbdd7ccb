// Metrics and health of a task.
#include <catch2/catch.hpp>

#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include <pinion/base/descriptors.hpp>

#include <support/caught.hpp>
#include <support/told_lines.hpp>

#include "http.hpp"
#include "sample.hpp"
#include "stranger.hpp"

namespace {

using namespace real;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

TEST_CASE("metrics are in Prometheus' text format: each family has its help and type, and its name tells its unit") {
  const std::regex head(R"(# (HELP|TYPE) (pinion_[a-z_]+) (.+))");
  const std::regex sample_line(R"#((pinion_[a-z_]+)(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)#");
  std::set<std::string> helped, counters, typed;
  for (const auto& task : sample().tasks) {
    if (!task.report) continue;
    for (const std::string& line : lines_of(metrics_text(*task.report))) {
      INFO(line);
      std::smatch match;
      if (std::regex_match(line, match, head)) {
        if (match[1] == "HELP") helped.insert(match[2]);
        if (match[1] == "TYPE") typed.insert(match[2]);
        if (match[3] == "counter") counters.insert(match[2]);
        continue;
      }
      REQUIRE(std::regex_match(line, match, sample_line));
      CHECK(typed.contains(match[1]));
    }
  }
  CHECK(helped == typed);
  for (const std::string& name : typed) CHECK(counters.contains(name) == name.ends_with("_total"));
}

TEST_CASE("metrics tell steps, variables, devices, queues and peers") {
  const auto all = sample();
  const std::string ps = metrics_text(*all.tasks[0].report), worker = metrics_text(*all.tasks[2].report);
  for (const char* line : {"pinion_steps_total 0", "pinion_parts_total 40213", "pinion_variables 3",
                           "pinion_variable_bytes 1570008", "pinion_queue_elements{queue=\"tokens\",container=\"\"} 2",
                           "pinion_peer_up{peer=\"/job:worker/replica:0/task:0\"} 1", "pinion_running 1"})
    CHECK_THAT(ps, Catch::Contains(std::string("\n") + line + "\n"));
  for (const char* line :
       {"pinion_steps_total 40213", "pinion_steps_failed_total 2", "pinion_sessions 1", "pinion_pool_queued 3",
        "pinion_device_memory_limit_bytes{device=\"/job:worker/replica:0/task:0/device:GPU:0\"} 149250113536",
        "pinion_peer_up{peer=\"/job:ps/replica:0/task:1\"} 0"})
    CHECK_THAT(worker, Catch::Contains(std::string("\n") + line + "\n"));
}

TEST_CASE("a name in a label is escaped, and harmless") {
  task_report r;
  r.queues = {{.name = "a\"b\\c\nd\x1b\xc2\x9b\xff", .size = 1}};
  CHECK_THAT(metrics_text(r), Catch::Contains(R"(queue="a\"b\\c\\nd\\x1b\\u009b\\xff")"));
}

const cluster_spec one_task{{"local", {"127.0.0.1:0"}}};

TEST_CASE("metrics count the steps that were run, and health ends when the server is stopped") {
  fresh f;
  server task(one_task);
  const metrics_server metrics(task);
  session sess{toward(task.target())};
  for (int i = 0; i < 3; ++i) sess.run(constant(1));
  CHECK_THAT(http_get(metrics.address(), "/metrics").text, Catch::Contains("\npinion_steps_total 3\n"));
  CHECK(http_get(metrics.address(), "/healthz").status == 200);
  CHECK(http_get(metrics.address(), "/").status == 404);
  task.stop();
  const http_reply over = http_get(metrics.address(), "/healthz");
  CHECK(over.status == 503);
  CHECK(over.text == "stopping\n");
  CHECK_THAT(http_get(metrics.address(), "/metrics").text, Catch::Contains("\npinion_running 0\n"));
}

TEST_CASE("an address for metrics that is taken or is none is refused") {
  server task(one_task);
  const metrics_server first(task);
  CHECK(caught([&] { metrics_server(task, first.address()); }).code() == errc::unavailable);
  CHECK(caught([&] { metrics_server(task, "nonsense"); }).code() == errc::invalid_argument);
}

TEST_CASE("a metrics server leaves the signals of its program as they are") {
  server task(one_task);
  const metrics_server metrics(task);
  struct sigaction is {};
  ::sigaction(SIGPIPE, nullptr, &is);
  CHECK(is.sa_handler == SIG_DFL);
}

TEST_CASE("headers without an end are refused after some KiB, and few lines of them are enough") {
  server task(one_task);
  const metrics_server metrics(task);
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "a: b\r\n";
  const std::string said = said_to(metrics.address(), "GET /healthz HTTP/1.1\r\n" + many + "\r\n");
  CHECK_THAT(said, Catch::StartsWith("HTTP/1.1 431 "));
}

TEST_CASE("a client that says its request byte by byte is let go") {
  server task(one_task);
  const metrics_server metrics(task);
  const stranger slow(metrics.address());
  bool closed = !slow.say("GET /healthz HTTP/1.1\r\na: ");
  for (int i = 0; i < 300 && !closed; ++i) closed = !slow.say("x") || slow.is_closed();
  CHECK(closed);
}

TEST_CASE("health is told while strangers hold connections and say nothing, or half of a request") {
  server task(one_task);
  const metrics_server metrics(task);
  std::vector<std::unique_ptr<stranger>> strangers;
  for (int i = 0; i < 300; ++i) {
    strangers.push_back(std::make_unique<stranger>(metrics.address()));
    REQUIRE(strangers.back()->connected());
    if (i % 2 == 0) (void)strangers.back()->say("GET /hea");
  }
  CHECK(http_get(metrics.address(), "/healthz").status == 200);
}

TEST_CASE("a report counts clients of metrics, descriptors of the process, and lines that the log holds back") {
  server task(one_task);
  const metrics_server metrics(task);
  const auto now = [&] { return task.report(); };
  const auto before = now().descriptors;
  CHECK(before.limit == most_descriptors());
  {
    const stranger one(metrics.address()), other(metrics.address());
    CHECK(soon([&] { return now().backlog.metrics_clients == 2; }));
    CHECK(now().descriptors.open >= before.open + 4);  // both ends are in this process
  }
  CHECK(soon([&] { return now().backlog.metrics_clients == 0 && now().descriptors.open <= before.open; }));
  const told_lines log;
  const std::string port = task.target().substr(std::string("pinion://").size());
  for (int i = 0; i < 15; ++i) said_to(port, "GET / HTTP/1.1\r\n\r\n");
  CHECK(soon([&] { return now().backlog.lines_untold == 5; }));
}

TEST_CASE("bad requests over HTTP are refused, and harm nothing") {
  server task(one_task);
  const metrics_server metrics(task);
  const std::string long_line(100'000, 'x');
  for (const std::string& bytes :
       {std::string(), std::string("\0\xff\xfe", 3), std::string("GET"), long_line,
        "GET /" + long_line + " HTTP/1.1\r\n\r\n", "GET /metrics HTTP/1.1\r\n" + long_line + ": y\r\n\r\n",
        std::string("POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nx"),
        std::string("POST /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\nx"),
        std::string("DELETE /healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
        std::string("GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")}) {
    const std::string said = said_to(metrics.address(), bytes);
    INFO(bytes.substr(0, 60) << " -> " << said.substr(0, 60));
    CHECK_THAT(said, !Catch::Contains(" 200 "));
  }
  CHECK(http_get(metrics.address(), "/healthz").status == 200);
}

}  // namespace
