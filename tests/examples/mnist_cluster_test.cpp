// The cluster example as users run it: what it says, how it ends, and that it leaves no process behind.
#if defined(PINION_TEST_MNIST_CLUSTER)
#include <process.hpp>

#include <catch2/catch.hpp>

#include <poll.h>
#include <sys/syscall.h>

#include <regex>
#include <sstream>

namespace {

// The example, with standard error after standard output. Children that it abandons become ours.
class example {
 public:
  explicit example(const std::string& options)
      : run_("the example", "/bin/sh", {"sh", "-c", "exec " PINION_TEST_MNIST_CLUSTER " " + options + " 2>&1"}) {}

  // Until it has written this. False when it ended before.
  bool says(const std::string& text) {
    while (said_.find(text) == std::string::npos) {
      const std::string more = run_.read();
      if (more.empty()) return false;
      said_ += more;
    }
    return true;
  }
  std::string ends() {
    for (std::string more = run_.read(); !more.empty(); more = run_.read()) said_ += more;
    return run_.wait();
  }
  const std::string& said() const { return said_; }
  pid_t pid() const { return run_.pid(); }
  pid_t pid_of(const std::string& task) const {
    std::smatch found;
    return std::regex_search(said_, found, std::regex(task + " .*process ([0-9]+)")) ? std::stoi(found[1]) : 0;
  }
  std::vector<double> accuracies() const {
    std::vector<double> result;
    std::istringstream lines(said_);
    for (std::string line; std::getline(lines, line);) {
      std::smatch found;
      if (!std::regex_match(line, found, std::regex("worker ([0-9]+): test accuracy ([01]\\.[0-9]{4})"))) continue;
      result.resize(std::max(result.size(), std::stoul(found[1]) + 1));
      result[std::stoul(found[1])] = std::stod(found[2]);
    }
    return result;
  }

 private:
  process run_;
  std::string said_;
};

// Whether this process has no child, be it one that it adopted, or one that has ended.
bool nobody_is_left() {
  return ::waitpid(-1, nullptr, WNOHANG) < 0;
}

// A task of an example that is going to die before it.
class orphan {
 public:
  explicit orphan(pid_t pid) : pid_(pid), end_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {
    REQUIRE(end_ >= 0);
  }
  orphan(const orphan&) = delete;
  ~orphan() { ::close(end_); }
  // Waits until it has ended, and takes leave of it; false where it does not end for long.
  bool ends() const {
    pollfd ended{end_, POLLIN, 0};
    return ::poll(&ended, 1, 20000) == 1 && ::waitpid(pid_, nullptr, WNOHANG) == pid_;
  }

 private:
  pid_t pid_;
  int end_;
};

void adopt_orphans() {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  REQUIRE(nobody_is_left());
}

// One that goes on until somebody stops it, once its workers train.
void begin_endless(example& e) {
  REQUIRE(e.says("worker 2: "));
}
const std::string endless = "--digits 600 --epochs 1000000";

}  // namespace

TEST_CASE("a cluster of processes trains, every worker tells its accuracy, and all are gone at the end") {
  adopt_orphans();
  for (const auto& [options, workers] :
       {std::pair("--digits 3000 --epochs 6", 3u), {"--digits 3000 --epochs 6 --ps 2 --workers 2", 2u}}) {
    example e(options);
    CHECK(e.ends() == "");
    INFO(e.said());
    CHECK(nobody_is_left());
    CHECK(e.accuracies().size() == workers);
    for (const double a : e.accuracies()) CHECK(a > .6);
    CHECK(e.said().find("VariableV2") != std::string::npos);
  }
}

TEST_CASE("workers share GPUs, each with its model on one, and compute on CPUs where there are none") {
  adopt_orphans();
  for (const auto& [options, product] :
       {std::pair("--simulated", "/job:worker/replica:0/task:0/device:GPU:0  pinned by policy"),
        {"", "/job:worker/replica:0/task:0/device:CPU:0  fallback from /job:worker/task:0/device:GPU:0"}}) {
    example e("--digits 3000 --epochs 6 --gpus 2 " + std::string(options));
    CHECK(e.ends() == "");
    INFO(e.said());
    CHECK(e.accuracies().size() == 3);
    for (const double a : e.accuracies()) CHECK(a > .6);
    CHECK_THAT(e.said(), Catch::Contains(product));
    CHECK_THAT(e.said(), Catch::Matches("[^]*layer/W +VariableV2 +/job:ps/replica:0/task:0/device:CPU:0[^]*"));
  }
  CHECK(nobody_is_left());
}

TEST_CASE("a task that dies early ends the others, and the launcher says which") {
  adopt_orphans();
  for (const std::string victim : {"worker 1", "ps 0"}) {
    example e(endless);
    begin_endless(e);
    ::kill(e.pid_of(victim), SIGKILL);
    CHECK(e.ends() == "exited with status 1");
    CHECK_THAT(e.said(), Catch::EndsWith("mnist_cluster: " + victim + " was killed by signal 9 (Killed)\n"));
    CHECK(nobody_is_left());
  }
}

TEST_CASE("a launcher that is asked to stop lets its workers end, and then its ps tasks") {
  adopt_orphans();
  for (const int signal : {SIGINT, SIGTERM}) {
    example e(endless);
    begin_endless(e);
    ::kill(e.pid(), signal);
    CHECK(e.ends() == "exited with status 1");
    for (const std::string worker : {"worker 0", "worker 1", "worker 2"})
      CHECK_THAT(e.said(), Catch::Contains(worker + ": test accuracy ") ||
                               Catch::Contains(worker + ": SIGTERM has asked"));  // where it had not yet begun
    CHECK_THAT(e.said(), Catch::EndsWith("mnist_cluster: asked to stop\n"));
    CHECK(nobody_is_left());
  }
}

TEST_CASE("tasks die with a launcher that cannot stop them") {
  adopt_orphans();
  example e(endless);
  begin_endless(e);
  const orphan ps(e.pid_of("ps 0")), first(e.pid_of("worker 0")), second(e.pid_of("worker 1")),
      third(e.pid_of("worker 2"));
  ::kill(e.pid(), SIGKILL);
  CHECK(e.ends() == "was killed by signal 9 (Killed)");
  for (const auto* task : {&ps, &first, &second, &third}) CHECK(task->ends());
  CHECK(nobody_is_left());
}
#endif
