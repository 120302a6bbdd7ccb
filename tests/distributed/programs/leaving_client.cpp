// A client of a task as a process of its own, to be killed in the middle of much: it has sessions, lends memory, has
// put values into a queue and taken some out again, and waits at another queue. It prints a line when that is so.
//
//   leaving_client <target>
#include <pinion/distributed.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <thread>
#include <vector>

int main(int, char** arguments) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr std::int64_t n = 20'000;  // 80 KiB, a small part of its slab
  const pinion::device on{"/task:0"};
  pinion::fifo_queue<float> full({.capacity = 100, .shapes = {{n}}, .name = "full"}),
      empty({.capacity = 100, .shapes = {{}}, .name = "empty"});
  const auto x = pinion::placeholder<float>({n}, "x");
  const auto put = full.enqueue(x);
  const auto get = full.dequeue(), never = empty.dequeue();
  const auto sum = pinion::reduce_sum(x);
  std::vector<pinion::session> sessions;
  for (int i = 0; i < 3; ++i) sessions.emplace_back(pinion::session_options{.target = arguments[1]});
  pinion::tensor<float> value({n}, std::vector<float>(n, 1.0f));
  for (auto& sess : sessions) {
    sess.run({{x, value}}, sum);
    for (int i = 0; i < 3; ++i) sess.run({{x, value}}, put);
    sess.run(get);
    sess.run(get);
  }
  for (auto& sess : sessions) std::thread([&] { sess.run(never); }).detach();
  std::printf("ready\n");
  std::fflush(stdout);
  ::pause();
} catch (const pinion::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
