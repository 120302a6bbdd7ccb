// A client of a cluster as a process of its own: adds 1 so many times to the variable `shared` of a task.
//
//   adding_client <target> <device of the variable> <container> <times>
#include <pinion/distributed.hpp>

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

int main(int, char** arguments) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pinion::device on{arguments[2]};
  const pinion::container box{arguments[3]};
  auto shared = pinion::variable(0, {.name = "shared"});
  auto up = pinion::assign_add(shared, 1);
  pinion::session sess{{.target = arguments[1], .operation_timeout = std::chrono::seconds(30)}};
  for (int left = std::atoi(arguments[4]); left > 0; --left) sess.run(pinion::operation(up));
  return 0;
} catch (const pinion::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
