// Code during which the calling thread takes no signals.
#pragma once

#include <signal.h>

#include <initializer_list>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// While it lives, its thread takes no signals but those that its own instructions cause. A signal that was sent to the
// process goes to another thread, or waits. It is for one thread, and costs two calls of the system.
class without_signals {
 public:
  PINION_GUARD without_signals() {
    sigset_t others;
    ::sigfillset(&others);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) ::sigdelset(&others, own);
    ::pthread_sigmask(SIG_BLOCK, &others, &before_);
  }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;
  ~without_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}}  // namespace pinion::v0
