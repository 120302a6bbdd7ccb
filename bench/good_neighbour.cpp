// Measures what a client feels while another ships a large graph to the same task: its empty steps.
//
//   good_neighbour [--nodes=N] [--seconds=S] [--jobs=1|2]
//
// Three processes: a task (with --jobs=2 a second one, which computes for the first), a client whose step is one no_op,
// and a client that builds a graph of N nodes (a million) that cannot be folded, ships it, and runs it once. Steps are
// timed for S seconds alone, then from when the other begins to ship until its step has run. The reach is a 99th
// percentile of at most three times that of alone. Wall time; so run it on an idle machine with at least four cores:
// with two, the network's thread, the client and the compiler take turns.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pinion/distributed.hpp>

#include "other_process.hpp"
#include "words.hpp"

namespace {

namespace pn = pinion;
using clock_type = std::chrono::steady_clock;

// ---- processes

int serve(int jobs) {
  pn::local_cluster tasks =
      jobs == 1 ? pn::local_cluster{{{"worker", 1}}} : pn::local_cluster{{{"worker", 1}, {"ps", 1}}};
  bench::tell(tasks.target("worker", 0));
  tasks.server("worker", 0).join();
  std::_Exit(0);
}

// Builds first, and ships when it is told to.
int ship(const std::string& target, int nodes, int jobs) {
  pn::session sess{{.target = target}};
  const pn::device on{jobs == 1 ? "/job:worker/task:0" : "/job:ps/task:0"};
  auto x = pn::placeholder<float>({4, 4}, "x");
  pn::expr<float> y = x;
  for (int i = 1; i < nodes; ++i) y = pn::matmul(y, x);  // nothing that could be folded or joined
  bench::tell("built");
  std::getchar();
  const auto began = clock_type::now();
  sess.run({{x, pn::tensor<float>({4, 4})}}, y);
  bench::tell(fmt::format("{:.1f}", std::chrono::duration<double>(clock_type::now() - began).count()));
  std::getchar();
  return 0;
}

// ---- measuring

struct figures {
  std::size_t steps = 0;
  double median = 0, p99 = 0, most = 0, per_second = 0;
};

template <class Step, class Until>
figures measure(const Step& step, const Until& over) {
  std::vector<double> us;
  const auto began = clock_type::now();
  do {
    const auto start = clock_type::now();
    step();
    us.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - start).count());
  } while (!over(clock_type::now() - began));
  const double seconds = std::chrono::duration<double>(clock_type::now() - began).count();
  std::sort(us.begin(), us.end());
  return {us.size(), us[us.size() / 2], us[us.size() * 99 / 100], us.back(), static_cast<double>(us.size()) / seconds};
}

void print(const char* what, const figures& f) {
  fmt::print("  {:<22} {:8} steps  {:8.0f} /s   median {:7.1f}   99 % {:8.1f}   longest {:10.1f}\n", what, f.steps,
             f.per_second, f.median, f.p99, f.most);
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::words w(argc, argv);
  const int nodes = w.count("--nodes", 1'000'000), seconds = w.count("--seconds", 5), jobs = w.count("--jobs", 1);
  if (argc > 1 && std::string(argv[1]) == "--serve") return serve(jobs);
  if (argc > 2 && std::string(argv[1]) == "--ship") return ship(argv[2], nodes, jobs);
  const std::string jobs_word = fmt::format("--jobs={}", jobs);
  bench::other_process task({"/proc/self/exe", "--serve", jobs_word});
  const std::string target = task.line();
  bench::other_process shipper({"/proc/self/exe", "--ship", target, fmt::format("--nodes={}", nodes), jobs_word});

  pn::session sess{{.target = target, .operation_timeout = std::chrono::seconds(30)}};
  const pn::device on{jobs == 1 ? "/job:worker/task:0" : "/job:ps/task:0"};
  auto nothing = pn::no_op();
  auto empty_step = sess.make_callable(pn::feeds(), pn::fetches(), pn::targets(nothing));
  shipper.line();
  for (int i = 0; i < 1000; ++i) empty_step();

  const auto alone = measure(empty_step, [&](auto passed) { return passed > std::chrono::seconds(seconds); });
  shipper.say("go");
  const auto beside = measure(empty_step, [&](auto) { return shipper.has_said_something(); });
  fmt::print("empty steps, us; the other client shipped {} nodes and ran them once in {} s\n", nodes, shipper.line());
  print("alone", alone);
  print("beside the other", beside);
  fmt::print("  99th percentile: {:.1f} times that of alone\n", beside.p99 / alone.p99);
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "good_neighbour: {}\n", e.what());
  return 1;
}
