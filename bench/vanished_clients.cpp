// The memory that clients leave in a server when they are killed while they ship a graph: before, and afterwards.
//
//   vanished_clients [--clients=N] [--nodes=N] [--after=MS] [--seconds=S]
//
// Every client is a process: it builds a graph of N nodes that cannot be folded, ships it, and is killed so many
// milliseconds after it has begun. Every five seconds the program tells what the server has resident, what of that is
// allocated (mallinfo2), and how long a good client's empty step takes. The reach is at most a tenth more than before.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pinion/distributed.hpp>

#include "other_process.hpp"
#include "resident.hpp"
#include "words.hpp"

namespace {

namespace pn = pinion;
using clock_type = std::chrono::steady_clock;

// ---- processes

int serve() {
  pn::local_cluster tasks{{{"worker", 1}}};
  bench::tell(tasks.target("worker", 0));
  while (std::getchar() == '\n' || std::getchar() != EOF) {
    const auto heap = ::mallinfo2();
    bench::tell(fmt::format("{} {}", bench::resident(), (heap.uordblks + heap.hblkhd) / 1024));
  }
  return 0;
}

// Builds, ships when it is told to, and is killed.
int ship(const std::string& target, int nodes) {
  pn::session sess{{.target = target}};
  auto x = pn::placeholder<float>({4, 4}, "x");
  pn::expr<float> y = x;
  for (int i = 1; i < nodes; ++i) y = pn::matmul(y, x);
  bench::tell("built");
  std::getchar();
  bench::tell("begun");
  sess.run({{x, pn::tensor<float>({4, 4})}}, y);
  bench::tell("run");
  std::getchar();
  return 0;
}

struct memory {
  double resident = 0, allocated = 0;  // MiB
};
memory of(bench::other_process& task) {
  task.say("");
  const std::string line = task.line();
  return {std::stod(line) / 1024, std::stod(line.substr(line.find(' '))) / 1024};
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::words w(argc, argv);
  const int clients = w.count("--clients", 12), nodes = w.count("--nodes", 150'000), after = w.count("--after", 1500),
            seconds = w.count("--seconds", 60);
  if (argc > 1 && std::string(argv[1]) == "--serve") return serve();
  if (argc > 2 && std::string(argv[1]) == "--ship") return ship(argv[2], nodes);
  bench::other_process task({"/proc/self/exe", "--serve"});
  const std::string target = task.line();
  pn::session sess{{.target = target, .operation_timeout = std::chrono::seconds(60)}};
  auto nothing = pn::no_op();
  const auto empty_step = sess.make_callable(pn::feeds(), pn::fetches(), pn::targets(nothing));
  for (int i = 0; i < 1000; ++i) empty_step();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const memory before = of(task);
  fmt::print("before: {:.1f} MiB resident, {:.1f} allocated\n", before.resident, before.allocated);
  {
    std::vector<std::unique_ptr<bench::other_process>> all;
    for (int i = 0; i < clients; ++i)
      all.push_back(std::make_unique<bench::other_process>(
          std::vector<std::string>{"/proc/self/exe", "--ship", target, fmt::format("--nodes={}", nodes)}));
    for (auto& one : all) one->line();
    for (auto& one : all) one->say("go");
    for (auto& one : all) one->line();
    std::this_thread::sleep_for(std::chrono::milliseconds(after));
    for (auto& one : all) one->kill();
  }
  const auto killed = clock_type::now();
  for (memory now; clock_type::now() - killed < std::chrono::seconds(seconds);) {
    const auto start = clock_type::now();
    empty_step();
    const auto took = std::chrono::duration<double, std::milli>(clock_type::now() - start).count();
    now = of(task);
    fmt::print("{:4.1f} s: {:7.1f} MiB resident, {:7.1f} allocated; an empty step took {:.1f} ms\n",
               std::chrono::duration<double>(clock_type::now() - killed).count(), now.resident, now.allocated, took);
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(5));
  }
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "vanished_clients: {}\n", e.what());
  return 1;
}
