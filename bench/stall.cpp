// How long a running step can stall while another thread has a large step made ready: the longest call of an empty step
// meanwhile, beside the longest while nothing else happens, and how long the large one takes.
//
//   stall [nodes]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <pinion/session.hpp>

namespace pn = pinion;

namespace {

using clock_type = std::chrono::steady_clock;

double milliseconds_since(clock_type::time_point start) {
  return std::chrono::duration<double, std::milli>(clock_type::now() - start).count();
}

// Milliseconds of each call, until it is told to end.
template <class F>
std::vector<double> times(const std::atomic<bool>& end, F&& call) {
  std::vector<double> all;
  while (!end) {
    const auto start = clock_type::now();
    call();
    all.push_back(milliseconds_since(start));
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const int nodes = argc > 1 ? std::atoi(argv[1]) : 20000;
  pn::graph g;
  const auto use = g.as_default();
  const auto x = pn::placeholder<float>({}, "x");
  const pn::operation nothing = pn::no_op();
  pn::expr<float> large = x;
  for (int k = 0; k < nodes; ++k) large = pn::tanh(large);

  pn::session sess{{.inter_op_threads = 1, .intra_op_threads = 1}};
  const auto measure = [&](const char* what, auto&& meanwhile) {
    sess.run(nothing);
    std::atomic<bool> end{false};
    double took = 0;
    std::thread other([&] {
      const auto start = clock_type::now();
      meanwhile();
      took = milliseconds_since(start);
      end = true;
    });
    const auto each = times(end, [&] { sess.run(nothing); });
    other.join();
    std::printf("%-36s %8.1f ms; %8zu empty steps, the 99th percentile %7.4f ms, the longest %8.3f ms\n", what, took,
                each.size(), each[each.size() * 99 / 100], each.back());
  };
  measure("nothing else", [] { std::this_thread::sleep_for(std::chrono::seconds(1)); });
  measure("another step is made and run", [&] { sess.run({{x, 1.f}}, large); });
  measure("the same again", [&] { sess.run({{x, 1.f}}, large); });
  measure("a plan is made", [&] { sess.plan(large); });
}
