// Another process that reads and prints lines.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

// Prints a line for the process that started this one.
inline void tell(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Owns the process: the destructor ends it, and the system does where the thread that started it has ended. A function
// that reads or writes throws std::runtime_error where the process is gone.
class other_process {
 public:
  // Starts a program; the first word is its name, which is looked up in PATH unless it has a slash.
  explicit other_process(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (auto& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become(arguments.data(), parent, in[0], out[1]);
    if (pid_ < 0) throw std::runtime_error("cannot start " + words[0]);
    ::close(in[0]);
    ::close(out[1]);
    to_ = ::fdopen(in[1], "w");
    from_ = ::fdopen(out[0], "r");
  }
  other_process(const other_process&) = delete;
  ~other_process() {
    ::kill(pid_, SIGTERM);
    std::fclose(to_);
    std::fclose(from_);
    ::waitpid(pid_, nullptr, 0);
  }

  std::string line() {
    std::array<char, 400> text{};
    if (!std::fgets(text.data(), static_cast<int>(text.size()), from_)) throw std::runtime_error("it is gone");
    const std::string s = text.data();
    return s.substr(0, s.find('\n'));
  }
  void say(const std::string& what) {
    std::fprintf(to_, "%s\n", what.c_str());
    std::fflush(to_);
  }
  void kill() { ::kill(pid_, SIGKILL); }
  bool has_said_something() const {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(::fileno(from_), &set);
    timeval now{};
    return ::select(::fileno(from_) + 1, &set, nullptr, nullptr, &now) > 0;
  }

 private:
  // In the child, which has to mind what is allowed between fork and exec.
  [[noreturn]] static void become(char* const* arguments, pid_t parent, int in, int out) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it died before that
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::execvp(arguments[0], arguments);
    ::_exit(127);
  }

  pid_t pid_ = 0;
  FILE *to_ = nullptr, *from_ = nullptr;
};

}  // namespace bench
