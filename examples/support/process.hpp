// A program that runs as a child of this one, and whose standard output comes here.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pinion/base/error.hpp>

// Killed when this object goes, and by the system when its parent dies: it outlives neither. For one thread at a time,
// the one that made it, which must not end before it.
class process {
 public:
  // The name is for people; the first of the words is what the program sees as its own.
  process(std::string name, const std::string& program, std::vector<std::string> words) : name_(std::move(name)) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("no pipe for ");
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become(program.c_str(), argv.data(), parent, ends[1]);
    ::close(ends[1]);
    output_ = ends[0];
    if (pid_ < 0) fail("cannot start ");
  }
  process(process&& o) noexcept
      : name_(std::move(o.name_)), pid_(std::exchange(o.pid_, -1)), output_(std::exchange(o.output_, -1)) {}
  ~process() {
    kill();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    if (output_ >= 0) ::close(output_);
  }

  const std::string& name() const { return name_; }
  pid_t pid() const { return pid_; }
  int output() const { return output_; }  // a descriptor to poll; -1 once it has ended

  void kill() const {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }
  void ask_to_end() const {
    if (pid_ > 0) ::kill(pid_, SIGTERM);
  }
  // What it has written since the last call; waits for that. "" when it has ended: wait() then returns at once.
  std::string read() {
    char bytes[4096];
    ssize_t n = 0;
    while ((n = ::read(output_, bytes, sizeof bytes)) < 0 && errno == EINTR) continue;
    if (n > 0) return {bytes, static_cast<std::size_t>(n)};
    ::close(std::exchange(output_, -1));
    return {};
  }
  // How it ended: "" for well, else "exited with status 1" or "was killed by signal 9 (Killed)".
  std::string wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFSIGNALED(status))
      return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("exited with status {}", WEXITSTATUS(status));
  }

 private:
  // In the child, which has to mind what is allowed between fork and exec.
  [[noreturn]] static void become(const char* program, char* const* argv, pid_t parent, int output) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it died before that
    ::setpgid(0, 0);                        // ctrl-C comes to the parent alone, which ends its children in order
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int asks : {SIGINT, SIGTERM}) std::signal(asks, SIG_DFL);  // a shell has programs behind it ignore one
    ::dup2(output, STDOUT_FILENO);
    ::execv(program, argv);
    ::_exit(127);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw pinion::error(pinion::errc::resource_exhausted, what + name_ + ": " + std::strerror(errno));
  }

  std::string name_;
  pid_t pid_ = -1;
  int output_ = -1;
};
