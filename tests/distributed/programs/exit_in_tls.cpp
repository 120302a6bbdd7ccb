// Ends by exit() while a thread asks a server of the same process for its state, over TLS, again and again.
//
//   exit_in_tls <certificate> <private key> <authorities>
#include <pinion/distributed.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <pinion/distributed/status/inspect.hpp>

// For the thread sanitizer: threads of the server are there when the process ends, as they are meant to be.
extern "C" const char* __tsan_default_options() {
  return "report_thread_leaks=0";
}

int main(int, char** files) try {
  namespace pn = pinion;
  static std::atomic<int> reports{0};
  const pn::security_options sealed{.certificate = files[1], .private_key = files[2], .authorities = files[3]};
  // There to the end of the process.
  static auto& task = *new pn::server{{{"ps", {"127.0.0.1:0"}}}, {.job = "ps", .security = sealed}};
  std::thread([sealed] {
    try {
      for (;; ++reports, reports.notify_one()) pn::inspect(task.target(), sealed);
    } catch (const pn::error& e) {
      std::fprintf(stderr, "%s\n", e.what());
      std::_Exit(4);
    }
  }).detach();
  for (int seen = 0; seen < 3; seen = reports) reports.wait(seen);
  std::exit(0);
} catch (const pinion::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
