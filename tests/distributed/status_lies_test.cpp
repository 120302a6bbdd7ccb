// Reports that lie, to those who look from outside.
#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <poll.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <distributed/impostor.hpp>
#include <distributed/real_cluster.hpp>
#include <support/caught.hpp>

#include <pinion/distributed/status/inspect.hpp>

namespace {

using namespace real;
using namespace distributed;

const std::string odd = "\x1b[2J\n\xc2\x9b\xe2\x80\xae\xff", shown = R"(\x1b[2J\n\u009b\u202e\xff)";

TEST_CASE("Q5: texts of a report are harmless to those who print them") {
  impostor task(name_of("ps", 0));
  task_report r{.name = odd, .address = odd, .version = odd, .state = odd};
  r.devices = {{.name = odd, .description = odd}};
  r.variables = {{.name = odd, .container = odd, .device = odd}};
  r.queues = {{.name = odd, .container = odd, .kind = odd}};
  r.sessions = {{.owner = odd}};
  r.runs = {{.master = odd, .computes = odd, .waits_for = odd}};
  r.peers = {{.name = name_of("ps", 1), .address = "127.0.0.1:1", .state = odd, .why = odd, .values_by = odd}};
  r.failures = {{.sentence = odd}};
  task.answers(report_reply{r});
  const auto read = inspect(task.target());
  const std::vector<std::string> texts{
      read.name,
      read.address,
      read.version,
      read.state,
      read.devices.at(0).name,
      read.devices.at(0).description,
      read.variables.at(0).name,
      read.variables.at(0).container,
      read.variables.at(0).device,
      read.queues.at(0).name,
      read.queues.at(0).container,
      read.queues.at(0).kind,
      read.sessions.at(0).owner,
      read.runs.at(0).master,
      read.runs.at(0).computes,
      read.runs.at(0).waits_for,
      read.peers.at(0).state,
      read.peers.at(0).why,
      read.peers.at(0).values_by,
      read.failures.at(0).sentence,
  };
  for (const std::string& text : texts) CHECK(text == shown);
}

TEST_CASE("Q5: the reason for which a task gives no report is harmless to those who print it") {
  impostor first(name_of("ps", 0)), second(name_of("ps", 1));
  task_report r{.name = name_of("ps", 0)};
  r.peers = {{.name = name_of("ps", 1), .address = second.address()}};
  first.answers(report_reply{r});
  second.answers(report_request::method, [](std::string_view) -> rpc::message { throw error(errc::unknown, odd); });
  const cluster_report all = inspect_cluster(first.target(), {}, 2s);
  REQUIRE(all.tasks.size() == 2);
  CHECK_THAT(all.tasks[1].why, !Catch::Contains("\x1b") && !Catch::Contains("\n"));
}

TEST_CASE("Q5: a report with more rows than reports have is refused, whichever list it is") {
  impostor task(name_of("ps", 0));
  task_report r{.name = name_of("ps", 0)};
  const auto n = task_report::most_rows + 1;
  SECTION("variables") {
    r.variables.resize(n);
  }
  SECTION("peers") {
    r.peers.resize(n);
  }
  SECTION("failures") {
    r.failures.resize(n);
  }
  task.answers(report_reply{r});
  CHECK(caught([&] { inspect(task.target()); }).code() == errc::data_loss);
}

TEST_CASE("Q5: a report that is longer than reports are is refused before it is read") {
  impostor task(name_of("ps", 0));
  task_report r{.name = name_of("ps", 0)};
  r.failures.push_back({.sentence = std::string(std::size_t{20} << 20, 'x')});
  task.answers(report_reply{r});
  CHECK_THAT(caught([&] { inspect(task.target()); }).sentence(), Catch::Contains("16777216"));
}

// A port that takes connections and says nothing, until a client closes them.
class silent_port {
 public:
  silent_port() : listens_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listens_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::listen(listens_, 4096) == 0);
    socklen_t size = sizeof at;
    ::getsockname(listens_, reinterpret_cast<sockaddr*>(&at), &size);
    address = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this] {
      for (int one = 0; (one = ::accept(listens_, nullptr, nullptr)) >= 0; ++taken) open_.push_back(one);
    });
  }
  silent_port(const silent_port&) = delete;
  ~silent_port() {
    ::shutdown(listens_, SHUT_RDWR);
    thread_.join();
    open_.push_back(listens_);
    for (const int one : open_) ::close(one);
  }

  std::string address;
  std::atomic<int> taken{0};

 private:
  const int listens_;
  std::vector<int> open_;
  std::thread thread_;
};

TEST_CASE("Q5: a report that names thousands of tasks has few of them asked at a time, and all of them listed") {
  impostor task(name_of("ps", 0));
  silent_port port;
  task_report r{.name = name_of("ps", 0)};
  for (int i = 1; i <= 300; ++i) r.peers.push_back({.name = name_of("ps", i), .address = port.address});
  task.answers(report_reply{r});
  const cluster_report all = inspect_cluster(task.target(), {}, 500ms);
  CHECK(all.tasks.size() == 301);
  for (const task_status& t : all.tasks) CHECK((t.report || !t.why.empty()));
  CHECK(port.taken <= 2 * 64);
}

}  // namespace
