// Tells a server all lies that tests/distributed/lies.cpp knows, and shows the answer to each, and what is left behind.
//
//   liar [--rounds=N] [--idle=S] [--report=FILE]
//
// Two processes: two workers, and this one, which lies to the first of them while a good client of it runs a step that
// is one no_op. Every lie is told once in each of N rounds (three). The report is a table, tabs between its columns:
// the method, the field, the lie, the answer, and the resident memory of the workers afterwards. Then the program
// prints how long the good client's steps took alone and meanwhile, and the memory, the threads and the descriptors of
// the workers before, after each round, and after S seconds of idling (sixty). The reaches: a longest step of at most
// ten times the median, memory within 10 % of that after the first round, threads and descriptors as before. Wall time;
// so run it on an idle machine.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pinion/distributed.hpp>

#include <distributed/lies.hpp>
#include <support/resident.hpp>

#include "other_process.hpp"
#include "words.hpp"

namespace {

namespace pn = pinion;
using clock_type = std::chrono::steady_clock;

int serve() {
  std::freopen("/dev/null", "w", stderr);  // the log of those who were thrown out
  pn::local_cluster tasks({{"worker", 2}}, {.limits = {.sessions = 4, .nodes = 1000}});
  bench::tell(std::to_string(::getpid()));
  for (const int task : {0, 1}) bench::tell(tasks.target("worker", task));
  tasks.server("worker", 0).join();
  std::_Exit(0);
}

// ---- the good client

// Times of empty steps in microseconds, taken in a thread of its own until it is stopped.
class good_client {
 public:
  explicit good_client(const std::string& target)
      : thread_([this, target] {
          pn::graph g;
          const auto use = g.as_default();
          pn::session sess{{.target = target, .graph = &g, .operation_timeout = std::chrono::seconds(30)}};
          auto empty_step = sess.make_callable(pn::feeds(), pn::fetches(), pn::targets(pn::no_op()));
          for (int i = 0; i < 1000; ++i) empty_step();
          while (!stopped_) {
            const auto start = clock_type::now();
            empty_step();
            us_.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - start).count());
          }
        }) {}
  good_client(const good_client&) = delete;

  // Ends it, and prints what it felt.
  void show(const char* when) {
    stopped_ = true;
    thread_.join();
    std::sort(us_.begin(), us_.end());
    const double median = us_[us_.size() / 2];
    fmt::print("  {:<22} {:8} steps   median {:7.1f}   99 % {:8.1f}   99.9 % {:8.1f}   longest {:9.1f}: {:.1f} times\n",
               when, us_.size(), median, us_[us_.size() * 99 / 100], us_[us_.size() * 999 / 1000], us_.back(),
               us_.back() / median);
  }

 private:
  std::atomic<bool> stopped_{false};
  std::vector<double> us_;
  std::thread thread_;
};

// Has the two workers connect with each other, as the tasks of a cluster are that has run a step.
void let_workers_meet(const std::string& target) {
  pn::graph g;
  const auto use = g.as_default();
  pn::session sess{{.target = target, .graph = &g}};
  const auto x = pn::placeholder<float>({}, "x");
  pn::expr<float> there, here;
  {
    const pn::device on{"/job:worker/task:1"};
    there = x + 1.0f;
  }
  {
    const pn::device on{"/job:worker/task:0"};
    here = there * 2.0f;
  }
  sess.run({{x, 1.0f}}, here);
}

// ---- what is left

std::size_t entries(const std::string& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

void show_left(const std::string& id, const std::string& when) {
  fmt::print("  {:<22} {:8.1f} MiB {:6} threads {:6} descriptors\n", when, resident_mib(id),
             entries("/proc/" + id + "/task"), entries("/proc/" + id + "/fd"));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1 && std::string(argv[1]) == "--serve") return serve();
  const bench::words w(argc, argv);
  const int rounds = w.count("--rounds", 3), idle = w.count("--idle", 60);
  const std::string report = w.get("--report");
  bench::other_process tasks({"/proc/self/exe", "--serve"});
  const std::string id = tasks.line(), victim = tasks.line(), second = tasks.line();
  const std::uint64_t life = real::liar(second).life_of_other();

  fmt::print("empty steps of a good client, us\n");
  {
    good_client alone(victim);
    std::this_thread::sleep_for(std::chrono::seconds(5));
    alone.show("alone");
  }
  std::vector<real::told_lie> rows;
  std::vector<std::string> left;
  std::size_t unexpected = 0;
  {
    let_workers_meet(victim);
    std::optional<real::honest> other(std::in_place, victim);
    fmt::print("what is left of {} lies in each round\n", real::lies().size());
    show_left(id, "before");
    for (int round = 1; round <= rounds; ++round) {
      good_client meanwhile(victim);
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
      show_left(id, fmt::format("after round {}", round));
      meanwhile.show("  the good client");
    }
  }
  std::this_thread::sleep_for(std::chrono::seconds(idle));
  show_left(id, fmt::format("after {} s of idling", idle));
  fmt::print("  {} answers were not as expected\n", unexpected);
  if (!report.empty()) std::ofstream(report) << real::report_of(rows);
  return unexpected > 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "liar: {}\n", e.what());
  return 1;
}
