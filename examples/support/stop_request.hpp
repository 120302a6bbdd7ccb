// Being asked to stop, by ctrl-C or by a signal to terminate, as something to poll.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

// From here on these signals do not end the program; the threads and processes made later begin so too.
class stop_request {
 public:
  stop_request() {
    sigset_t both;
    ::sigemptyset(&both);
    ::sigaddset(&both, SIGINT);
    ::sigaddset(&both, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &both, nullptr);
    descriptor_ = ::signalfd(-1, &both, SFD_CLOEXEC);
  }
  stop_request(const stop_request&) = delete;
  ~stop_request() { ::close(descriptor_); }

  int descriptor() const { return descriptor_; }  // readable once somebody has asked
  // Takes the request, so that the descriptor is readable again for the next one only.
  void take() const {
    signalfd_siginfo told;
    [[maybe_unused]] const auto n = ::read(descriptor_, &told, sizeof told);
  }

 private:
  int descriptor_;
};
