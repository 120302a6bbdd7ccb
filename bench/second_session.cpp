// The first step of a session whose graph its task holds already, beside that of the session that brought it.
//
//   second_session [--nodes=N] [--mib=N] [--rounds=N]
//
// The task is another process of this machine. The graph is a chain of so many nodes, behind a constant of so many MiB,
// and another one in each round. Told are medians of the rounds: the bytes that the task received, and the time of the
// first step, from the session's constructor on. The step fetches the chain and a sum over the constant.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <pinion/pinion.hpp>

#include "other_process.hpp"
#include "words.hpp"

namespace {

namespace pn = pinion;
using clock_type = std::chrono::steady_clock;

struct first_step {
  double ms = 0, bytes = 0;
};

struct chain {
  pn::graph g;
  pn::expr<float> x, y, sum;

  chain(int nodes, int mib, float first) {
    const auto use = g.as_default();
    pn::tensor<float> large({std::int64_t{mib} << 18});
    if (mib > 0) large(0) = first;
    x = pn::placeholder<float>({}, "x");
    y = x + first;
    for (int i = 0; i < nodes; ++i) y = pn::identity(y);
    sum = pn::reduce_sum(pn::constant(large) * x);
  }
};

std::uint64_t received(const std::string& target) {
  return pn::inspect(target).traffic.bytes_received;
}

first_step measure(const std::string& target, chain& c) {
  const std::uint64_t before = received(target);
  const auto began = clock_type::now();
  pn::session sess{{.target = target, .graph = &c.g}};
  sess.run({{c.x, 1.f}}, c.y, c.sum);
  const std::chrono::duration<double, std::milli> took = clock_type::now() - began;
  return {took.count(), double(received(target) - before)};
}

double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

void serve() {
  pn::server task(pn::cluster_spec{{"worker", {"127.0.0.1:0"}}}, {.job = "worker"});
  bench::tell(task.target());
  task.join();
}

}  // namespace

int main(int count, char** arguments) {
  const bench::words words(count, arguments);
  if (words.has("--serve")) return serve(), 0;
  const int nodes = words.count("--nodes", 2000), mib = words.count("--mib", 16), rounds = words.count("--rounds", 5);
  bench::other_process task({"/proc/self/exe", "--serve"});
  const std::string target = task.line();
  std::vector<double> ms[2], bytes[2];
  for (int round = 0; round < rounds; ++round) {
    chain c(nodes, mib, float(round + 1));
    for (const int which : {0, 1}) {
      const first_step one = measure(target, c);
      ms[which].push_back(one.ms), bytes[which].push_back(one.bytes);
    }
  }
  fmt::print("{} nodes and {} MiB    bytes to the task    first step\n", nodes, mib);
  for (const int which : {0, 1})
    fmt::print("{:<20} {:>18.0f} {:>10.1f} ms\n", which == 0 ? "the session before" : "a second session",
               median(bytes[which]), median(ms[which]));
}
