// Another process that reads and prints lines.
#pragma once

#include <signal.h>
#include <spawn.h>
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

// Owns the process: the destructor ends it. A function that reads or writes throws std::runtime_error where the process
// is gone.
class other_process {
 public:
  // Starts a program; the first word is its name, which is looked up in PATH unless it has a slash.
  explicit other_process(std::vector<std::string> words) {
    int in[2], out[2];
    if (::pipe(in) != 0 || ::pipe(out) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    for (const int fd : {in[1], out[0]}) posix_spawn_file_actions_addclose(&actions, fd);
    std::vector<char*> arguments;
    for (auto& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    if (::posix_spawnp(&pid_, words[0].c_str(), &actions, nullptr, arguments.data(), environ) != 0)
      throw std::runtime_error("cannot start " + words[0]);
    posix_spawn_file_actions_destroy(&actions);
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
  pid_t pid_ = 0;
  FILE *to_ = nullptr, *from_ = nullptr;
};

}  // namespace bench
