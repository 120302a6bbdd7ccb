// A disk without room, for tests: files of this process grow so far and no further.
#pragma once

#include <sys/resource.h>

#include <csignal>

// While it is there, a write beyond so many bytes of a file fails (File too large).
class file_limit {
 public:
  explicit file_limit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  file_limit(const file_limit&) = delete;
  ~file_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};
