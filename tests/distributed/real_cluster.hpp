// Clusters for tests: servers in this process, and tasks in processes of their own.
//
// A session calls a server of its own process directly; to one of another process it speaks over the wire. What must
// hold for both is tested with both.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pinion/distributed.hpp>

#include <distributed/task_names.hpp>
#include <support/own_graph.hpp>

namespace real {

using namespace pinion;
using namespace std::chrono_literals;

// Until something holds; false when it does not within a time that is ample on a busy machine.
template <class Condition>
bool soon(Condition holds, std::chrono::steady_clock::duration within = 20s) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

class stopwatch {
 public:
  std::chrono::milliseconds passed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_);
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// ---- processes

// A program that was started; killed, if it is still there, when this goes. It shares no descriptor with this process
// but the standard ones.
class process {
 public:
  explicit process(std::vector<std::string> command) {
    int out[2];
    if (::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    std::vector<char*> arguments;
    for (auto& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawnattr_t how;  // a shell may have told this program to ignore SIGINT
    sigset_t both;
    ::sigemptyset(&both);
    ::sigaddset(&both, SIGINT);
    ::sigaddset(&both, SIGTERM);
    ::posix_spawnattr_init(&how);
    ::posix_spawnattr_setsigdefault(&how, &both);
    ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    const int failed = ::posix_spawn(&pid_, arguments[0], &actions, &how, arguments.data(), environ);
    ::posix_spawnattr_destroy(&how);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    output_ = out[0];
    if (failed) throw std::runtime_error("cannot start " + command[0]);
  }
  process(process&& o) noexcept
      : pid_(std::exchange(o.pid_, 0)), status_(o.status_), output_(std::exchange(o.output_, -1)) {}
  ~process() {
    if (pid_ > 0 && !ended()) {
      signal(SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    if (output_ >= 0) ::close(output_);
  }

  pid_t id() const { return pid_; }
  // Sends a signal. Returns from SIGSTOP when all threads of the program stand, which takes a moment on a busy machine.
  void signal(int number) {
    ::kill(pid_, number);
    siginfo_t standing{};
    if (number == SIGSTOP) ::waitid(P_PID, static_cast<id_t>(pid_), &standing, WSTOPPED | WEXITED | WNOWAIT);
  }
  // The next line that it prints; "" when it prints no more, or nothing for long.
  std::string line() {
    std::string text;
    pollfd printed{output_, POLLIN, 0};
    for (char c = 0; ::poll(&printed, 1, 20000) == 1 && ::read(output_, &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  // The next that has a part; "" when there is none for long.
  std::string line_with(const std::string& part) {
    const auto until = std::chrono::steady_clock::now() + 30s;
    for (std::string text = line(); !text.empty() && std::chrono::steady_clock::now() < until; text = line())
      if (text.find(part) != text.npos) return text;
    return "";
  }
  // What it ends with: 0 and up its exit status, below 0 the signal; -1000 when it does not end soon.
  int result() {
    if (!soon([this] { return ended(); })) return -1000;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  }
  bool ended() { return over_ || (over_ = ::waitpid(pid_, &status_, WNOHANG) == pid_); }

 private:
  pid_t pid_ = 0;
  int status_ = 0, output_ = -1;
  bool over_ = false;
};

struct task_options {
  std::chrono::milliseconds heartbeat{1000};
  std::string key = "-";
  std::chrono::milliseconds grace{10000};
};

// Has it a handler for a signal?
inline bool handles(pid_t id, int number) {
  std::ifstream status("/proc/" + std::to_string(id) + "/status");
  for (std::string word; status >> word;)
    if (word == "SigCgt:" && status >> word) return std::stoull(word, nullptr, 16) >> (number - 1) & 1;
  return false;
}

// A task of a cluster that serves, and minds signals, when this has been made.
class task_process : public process {
 public:
  task_process(const cluster_spec& cluster, const std::string& job, int task, const task_options& options = {})
      : process(command(cluster, job, task, options)), target_(line()) {
    soon([this] { return handles(id(), SIGTERM) && handles(id(), SIGINT); });
  }
  const std::string& target() const { return target_; }

 private:
  static std::vector<std::string> command(const cluster_spec& cluster, const std::string& job, int task,
                                          const task_options& o) {
    std::vector<std::string> words{
        PINION_TEST_CLUSTER_TASK,       job, std::to_string(task), std::to_string(o.heartbeat.count()), o.key,
        std::to_string(o.grace.count())};
    for (const auto& j : cluster.jobs())
      for (const int t : cluster.task_indices(j))
        words.push_back(j + "/" + std::to_string(t) + "=" + cluster.address(j, t));
    return words;
  }
  std::string target_;
};

// A port of a host that nobody has, while this lives.
class free_port {
 public:
  explicit free_port(const std::string& host) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    ::inet_pton(AF_INET, host.c_str(), &at.sin_addr);
    socklen_t size = sizeof at;
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      throw std::runtime_error("no free port on " + host + ": " + std::strerror(errno));
    number_ = ntohs(at.sin_port);
  }
  free_port(const free_port&) = delete;
  ~free_port() { ::close(socket_); }
  int number() const { return number_; }

 private:
  const int socket_;
  int number_ = 0;
};

// Addresses on which nobody listens (any more), on a loopback host of this process alone: on 127.0.0.1 any client may
// be given the port of a task that is gone for a while.
inline cluster_spec free_addresses(std::initializer_list<local_cluster::job> jobs) {
  const int id = ::getpid();
  const auto number = [](int n) { return "." + std::to_string(n); };
  const std::string host = "127" + number(2 + id / 62500 % 250) + number(id / 250 % 250) + number(1 + id % 250);
  cluster_spec spec;
  std::list<free_port> held;  // all at once, so that none is given twice
  for (const local_cluster::job& job : jobs)
    for (int task = 0; task < job.tasks; ++task)
      spec.add_task(job.name, task, host + ":" + std::to_string(held.emplace_back(host).number()));
  return spec;
}

// A listener in the place of a task that has not come up yet, which tells when somebody looks for that task.
class early_listener {
 public:
  explicit early_listener(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto colon = address.rfind(':');
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
    ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &at.sin_addr);
    const int again = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || ::listen(socket_, 8) != 0)
      throw std::runtime_error("cannot listen at " + address + ": " + std::strerror(errno));
  }
  early_listener(const early_listener&) = delete;
  ~early_listener() { leave(); }

  // Waits until somebody has connected, whom it does not answer, and leaves its place; false where nobody came for
  // long.
  bool was_tried() {
    pollfd asked{socket_, POLLIN, 0};
    const bool tried = ::poll(&asked, 1, 20000) == 1;
    leave();
    return tried;
  }

 private:
  void leave() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  int socket_;
};

// ---- what a test runs on

enum class tasks_in { same_process, own_processes };

// Two ps tasks and two workers; started once each way, for all tests.
class two_and_two {
 public:
  explicit two_and_two(tasks_in w) {
    if (w == tasks_in::same_process) {
      here_ = std::make_unique<local_cluster>(std::initializer_list<local_cluster::job>{{"ps", 2}, {"worker", 2}});
      spec_ = here_->spec();
      return;
    }
    spec_ = free_addresses({{"ps", 2}, {"worker", 2}});
    for (const char* job : {"ps", "worker"})
      for (int task : {0, 1}) others_.emplace_back(spec_, job, task, task_options{.heartbeat = 5s});
  }
  static two_and_two& of(tasks_in w) {
    if (w == tasks_in::same_process) {
      static two_and_two here(w);
      return here;
    }
    static two_and_two apart(w);
    return apart;
  }

  const cluster_spec& spec() const { return spec_; }
  std::string target(const std::string& job, int task) const { return "pinion://" + spec_.address(job, task); }
  std::vector<std::string> targets() const {
    return {target("ps", 0), target("ps", 1), target("worker", 0), target("worker", 1)};
  }

 private:
  cluster_spec spec_;
  std::unique_ptr<local_cluster> here_;
  std::vector<task_process> others_;
};

// A graph whose variables no other test shares.
struct fresh : own_graph {
  std::string box = unique_name();
  container inside{box};

  static std::string unique_name() {
    static std::atomic<int> last{0};
    return "test_" + std::to_string(++last);
  }
};

// Options with a limit, so that a test fails where it would hang; with a graph for the threads that have another
// default.
inline session_options toward(const std::string& target, graph* g = nullptr) {
  return {.target = target, .graph = g, .startup_timeout = 60s, .operation_timeout = 60s};
}

// A product of many matrices on one task: takes seconds, unless it is stopped.
inline expr<float> long_work(const char* device_name) {
  const device on{device_name};
  auto x = constant(tensor<float>({512, 512}));
  expr<float> y = x;
  for (int i = 0; i < 2000; ++i) y = matmul(y, x);
  return y;
}

template <class F>
void in_threads(int n, F body) {
  std::vector<std::thread> all;
  for (int t = 0; t < n; ++t) all.emplace_back([=] { body(t); });
  for (auto& t : all) t.join();
}

// How many entries a folder of /proc has.
inline int entries(const char* folder) {
  int n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}

}  // namespace real
