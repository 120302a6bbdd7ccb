// One task of a cluster as a process of its own: serves until SIGTERM, SIGINT or a remote shutdown, then exits with 0.
//
//   cluster_task <job> <task> <heartbeat in ms> <key, or -> <grace in ms> <job>/<task>=<host:port> ...
//
// Prints its target in a line when it serves; a refusal goes to standard error, and 1 comes back. It dies with the
// process that started it.
#include <pinion/distributed.hpp>

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <support/cluster_words.hpp>

int main(int count, char** arguments) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string key = arguments[4];
  pinion::server server(cluster_of(arguments + 6, arguments + count),
                        {.job = arguments[1],
                         .task = std::atoi(arguments[2]),
                         .security = {.key = key == "-" ? "" : key},
                         .config = {.heartbeat = std::chrono::milliseconds(std::atoi(arguments[3])),
                                    .grace = std::chrono::milliseconds(std::atoi(arguments[5]))}});
  std::printf("%s\n", server.target().c_str());
  std::fflush(stdout);
  server.join();
  return 0;
} catch (const pinion::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
