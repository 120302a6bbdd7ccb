// pinion_status as a process.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <pty.h>

#include <status/json.hpp>
#include <support/caught.hpp>

#include "program.hpp"
#include "sample.hpp"

namespace {

using namespace real;

// A ps and a worker, of which the ps keeps a variable; a second ps is missing.
struct small_cluster {
  fresh f;
  cluster_spec spec = free_addresses({{"ps", 2}, {"worker", 1}});
  server_program ps{{"--cluster", words_of(spec), "--job", "ps"}},
      worker{{"--cluster", words_of(spec), "--job", "worker"}};
  variable_handle<float> kept = place<"/job:ps/task:0">(variable(tensor<float>({20}), {.name = "kept"}));
  session sess{toward(worker.target())};

  small_cluster() { sess.run(kept.initializer()); }
};

ended_program status_of(std::vector<std::string> words) {
  words.insert(words.begin(), {"--timeout", "1"});
  return end_of(PINION_TEST_STATUS, words);
}

TEST_CASE("pinion_status shows tasks, also those that are not there, variables and sessions") {
  const small_cluster cluster;
  const auto [text, status] = status_of({cluster.worker.target()});
  INFO(text);
  CHECK(status == 0);
  CHECK_THAT(text, Catch::StartsWith("3 tasks (1 not reached), 1 session with "));
  CHECK_THAT(text, Catch::Contains("\n/job:ps/task:0      running      " + cluster.spec.address("ps", 0)));
  CHECK_THAT(text, Catch::Contains("\n/job:ps/task:1      unreachable  " + cluster.spec.address("ps", 1)));
  CHECK_THAT(text, Catch::Contains("Connection refused"));
  CHECK_THAT(text, Catch::Contains("80 B  kept (in '" + cluster.f.box + "')  float  [20]   device:CPU:0"));
  CHECK_THAT(text, !Catch::Contains("\x1b"));
}

TEST_CASE("pinion_status --json tells the same to programs") {
  const small_cluster cluster;
  const auto [text, status] = status_of({cluster.worker.target().substr(9), "--json"});
  CHECK(status == 0);
  const auto all = nlohmann::json::parse(text);
  REQUIRE(all.at("tasks").size() == 3);
  const auto& ps = all["tasks"][0];
  CHECK(ps.at("name") == name_of("ps", 0));
  CHECK(ps.at("report").at("variables").at(0).at("bytes") == 80);
  CHECK(all["tasks"][1].at("report").is_null());
  CHECK_THAT(all["tasks"][1].at("why").get<std::string>(), Catch::Contains("Connection refused"));
  CHECK(all["tasks"][2].at("report").at("sessions").at(0).at("steps").at("ended") == 1);
}

TEST_CASE("JSON has each member of a report, and mends texts that are no UTF-8") {
  auto all = sample();
  all.tasks[1].why = "\xff";
  const auto read = nlohmann::json::parse(status::json_of(all, false));
  CHECK(read["tasks"][0]["report"]["variables"][0]["shape"] == "[784, 500]");
  CHECK(read["tasks"][2]["report"]["peers"][1]["state"] == "dead");
  CHECK(read["tasks"][2]["report"]["limits"]["sessions"] == 64);
  CHECK(read["tasks"][2]["report"]["limits"].size() == 24);
  CHECK(read["tasks"][0]["report"].size() == 25);
}

TEST_CASE("pinion_status ends with 1 and a sentence where its target does not answer, with 2 for wrong options") {
  const std::string nobody = free_addresses({{"ps", 1}}).address("ps", 0);
  const auto gone = status_of({nobody});
  INFO(gone.text);
  CHECK(gone.status == 1);
  CHECK_THAT(gone.text, Catch::StartsWith("pinion_status: ") && Catch::Contains(nobody));
  CHECK(status_of({}).status == 2);
  CHECK(status_of({nobody, "--interval", "0"}).status == 2);
  CHECK(status_of({"nonsense"}).status == 1);
  CHECK(status_of({"--help"}).status == 0);
}

TEST_CASE("pinion_status --watch goes on until it is interrupted, and outlives its target") {
  small_cluster cluster;
  process watch =
      run_program(PINION_TEST_STATUS, {cluster.worker.target(), "--watch", "--interval", "0.1", "--timeout", "1"});
  for (int page = 0; page < 2; ++page) CHECK_THAT(line_with(watch, "3 tasks"), Catch::Contains("1 session"));
  cluster.worker.signal(SIGKILL);
  CHECK(line_with(watch, "Connection refused") != "");
  watch.signal(SIGINT);
  CHECK(watch.result() == 0);
}

TEST_CASE("in a terminal pinion_status --watch draws its page anew, and ctrl-C gives the screen back") {
  const small_cluster cluster;
  winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
  int screen = -1;
  const pid_t id = ::forkpty(&screen, nullptr, nullptr, &size);
  if (id == 0) {
    ::execl(PINION_TEST_STATUS, PINION_TEST_STATUS, cluster.worker.target().c_str(), "--watch", "--interval", "0.1",
            "--timeout", "1", nullptr);
    ::_exit(127);
  }
  std::string drawn;
  const auto read_until = [&](const std::string& part, std::size_t from) {
    pollfd more{screen, POLLIN, 0};
    for (char c = 0; drawn.find(part, from) == drawn.npos;) {
      if (::poll(&more, 1, 20000) != 1 || ::read(screen, &c, 1) != 1) return false;
      drawn += c;
    }
    return true;
  };
  REQUIRE(read_until("\x1b[J", 0));
  REQUIRE(read_until("\x1b[J", drawn.size()));
  CHECK_THAT(drawn, Catch::StartsWith("\x1b[?1049h\x1b[?25l\x1b[H3 tasks"));
  CHECK(::write(screen, "\x03", 1) == 1);
  CHECK(read_until("\x1b[?25h\x1b[?1049l", 0));
  int status = -1;
  ::waitpid(id, &status, 0);
  CHECK(status == 0);
  ::close(screen);
}

}  // namespace
