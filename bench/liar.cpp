// Tells a server all lies that tests/distributed/lies.cpp knows, and shows the answer to each, and what is left behind.
//
//   liar [--rounds=N] [--idle=S] [--report=FILE]
//
// Three processes: two workers; a good client of the first; and this one, which lies to that worker. Every lie is told
// once in each of N rounds (three). The report is a table, tabs between its columns: the method, the field, the lie,
// the answer, and the resident memory of the workers afterwards. Then the program prints how long the good client's
// steps, each of which is one no_op, took alone and meanwhile; and the memory, the threads and the descriptors of the
// workers before, after each round and twenty seconds later, in which a server has given memory back twice, and after S
// seconds of idling (sixty). Before the lies as many honest clients come and go as there will be liars in a round, each
// with the message that will be lied about, as it is true; and S seconds of idling follow them, too: what a server
// takes that has served many, such as heaps of threads with holes, is no trace of the lies. The reaches: a longest step
// of at most ten times the median; memory, when it was given back, within 10 % of that before, and no more of it from
// round to round; threads and descriptors as before.
//
// The good client takes turns with a bare echo: one byte that goes to a thread of the workers' process and back, over a
// socket. The worst of those is what the system's scheduler does to any process here. Wall time; so run it on an idle
// machine.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pinion/distributed.hpp>

#include <distributed/lies.hpp>
#include <support/resident.hpp>

#include "loopback.hpp"
#include "other_process.hpp"
#include "words.hpp"

namespace {

namespace pn = pinion;
using clock_type = std::chrono::steady_clock;

// A server gives memory back each ten seconds, so what it took in a round is there for as long.
constexpr int two_sweeps = 20;

int serve() {
  std::freopen("/dev/null", "w", stderr);  // the log of those who were thrown out
  int port = 0;
  const int listener = bench::listen_anywhere(port);
  std::thread([listener] {
    const int fd = ::accept(listener, nullptr, nullptr);
    for (char byte = 0; ::read(fd, &byte, 1) == 1 && ::write(fd, &byte, 1) == 1;) {
    }
  }).detach();
  pn::local_cluster tasks({{"worker", 2}}, {.limits = {.sessions = 4, .nodes = 1000}});
  bench::tell(std::to_string(::getpid()));
  for (const int task : {0, 1}) bench::tell(tasks.target("worker", task));
  bench::tell(std::to_string(port));
  tasks.server("worker", 0).join();
  std::_Exit(0);
}

// ---- the good client

class timings {
 public:
  template <class Work>
  void add(const Work& work) {
    const auto start = clock_type::now();
    work();
    us_.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - start).count());
  }
  std::string take() {
    std::vector<double> us = std::exchange(us_, {});
    std::sort(us.begin(), us.end());
    const double median = us[us.size() / 2];
    return fmt::format("{:8}   median {:7.1f}   99 % {:8.1f}   99.9 % {:8.1f}   longest {:9.1f}: {:.1f} times",
                       us.size(), median, us[us.size() * 99 / 100], us[us.size() * 999 / 1000], us.back(),
                       us.back() / median);
  }

 private:
  std::vector<double> us_;
};

// Runs empty steps and bare echoes in turn; for each line that comes it tells how long they took since the last.
int be_good(const std::string& target, int port) {
  pn::graph g;
  const auto use = g.as_default();
  pn::session sess{{.target = target, .graph = &g, .operation_timeout = std::chrono::seconds(30)}};
  auto empty_step = sess.make_callable(pn::feeds(), pn::fetches(), pn::targets(pn::no_op()));
  const int socket = bench::connect_to(port);
  char byte = 0;
  const auto echo = [&] {
    if (::write(socket, &byte, 1) != 1 || ::read(socket, &byte, 1) != 1) throw std::runtime_error("no echo");
  };
  for (int i = 0; i < 1000; ++i) empty_step(), echo();
  std::atomic<int> asked{0};
  std::thread([&asked] {
    while (std::getchar() != EOF) ++asked;
  }).detach();
  timings steps, echoes;
  for (int told = 0;; ++told) {
    do {
      steps.add(empty_step);
      echoes.add(echo);
    } while (asked == told);
    bench::tell(steps.take());
    bench::tell(echoes.take());
  }
}

class good_client {
 public:
  good_client(const std::string& target, const std::string& port)
      : process_({"/proc/self/exe", "--be-good", target, port}) {}
  // Lets go what it felt until now.
  void begin() { ask(); }
  void show(const std::string& when) {
    const auto [steps, echoes] = ask();
    fmt::print("  {:<22} {}\n  {:<22} {}\n", when, steps, "  a bare echo", echoes);
  }

 private:
  std::pair<std::string, std::string> ask() {
    process_.say("");
    std::string steps = process_.line();
    return {std::move(steps), process_.line()};
  }
  bench::other_process process_;
};

// Has the two workers connect with each other and ship large parts, as the tasks of a cluster do that has run a step.
void let_workers_meet(const std::string& target) {
  pn::graph g;
  const auto use = g.as_default();
  pn::session sess{{.target = target, .graph = &g}};
  const pn::shape extent{1 << 13};
  const auto x = pn::placeholder<float>(extent, "x");
  pn::expr<float> there, here;
  {
    const pn::device on{"/job:worker/task:1"};
    there = x + pn::constant(pn::tensor<float>(extent));
  }
  {
    const pn::device on{"/job:worker/task:0"};
    here = there * pn::constant(pn::tensor<float>(extent));
  }
  sess.run({{x, pn::tensor<float>(extent)}}, here);
}

// ---- what is left

std::size_t entries(const std::string& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// What the process of the workers holds, beside what it held at first.
class remains {
 public:
  explicit remains(std::string id) : id_(std::move(id)) {}
  void show(const std::string& when) {
    const double now = resident_mib(id_);
    if (before_ == 0) before_ = now;
    fmt::print("  {:<22} {:8.1f} MiB {:+6.1f} % {:6} threads {:6} descriptors\n", when, now, 100 * (now / before_ - 1),
               entries("/proc/" + id_ + "/task"), entries("/proc/" + id_ + "/fd"));
  }

 private:
  const std::string id_;
  double before_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1 && std::string(argv[1]) == "--serve") return serve();
  if (argc > 3 && std::string(argv[1]) == "--be-good") return be_good(argv[2], std::stoi(argv[3]));
  const bench::words w(argc, argv);
  const int rounds = w.count("--rounds", 3), idle = w.count("--idle", 60);
  const std::string report = w.get("--report");
  bench::other_process tasks({"/proc/self/exe", "--serve"});
  const std::string id = tasks.line(), victim = tasks.line(), second = tasks.line(), port = tasks.line();
  const std::uint64_t life = real::liar(second).life_of_other();
  const auto rest = [idle] { std::this_thread::sleep_for(std::chrono::seconds(idle)); };

  let_workers_meet(victim);
  std::optional<real::honest> other(std::in_place, victim);
  for (const real::lie& l : real::lies()) {
    real::scene s(victim, *other, life);
    l.tell_truth(s);
  }
  good_client good(victim, port);
  rest();
  fmt::print("empty steps of a good client, us\n");
  good.begin();
  std::this_thread::sleep_for(std::chrono::seconds(5));
  good.show("alone");
  fmt::print("what is left of {} lies in each round\n", real::lies().size());
  remains left(id);
  left.show("before");
  std::vector<real::told_lie> rows;
  std::size_t unexpected = 0;
  for (int round = 1; round <= rounds; ++round) {
    good.begin();
    rows.clear();
    for (const real::lie& l : real::lies()) {
      real::told_lie row{&l, std::nullopt, 0};
      {
        real::scene s(victim, *other, life);
        row.answer = l.tell(s);
      }
      row.resident = resident_mib(id);
      unexpected += !row.is_as_expected();
      rows.push_back(row);
    }
    left.show(fmt::format("after round {}", round));
    good.show("  the good client");
    std::this_thread::sleep_for(std::chrono::seconds(two_sweeps));
    left.show(fmt::format("  {} s later", two_sweeps));
  }
  rest();
  left.show(fmt::format("after {} s of idling", idle));
  fmt::print("  {} answers were not as expected\n", unexpected);
  if (!report.empty()) std::ofstream(report) << real::report_of(rows);
  return unexpected > 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "liar: {}\n", e.what());
  return 1;
}
