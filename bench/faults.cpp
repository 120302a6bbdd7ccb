// The table of faults: training jobs of real processes are hurt in each way that is listed in faults/fault.hpp, and it
// tells who notices after how long, in which words, what work is lost and who goes on.
//
//   bench_faults [--only=PART_OF_A_NAME] [--jobs=N] [--folder=.] [--list] [--short] [--story]
//
// A job is a ps, a chief and two other workers, asynchronous, synchronous (sync) or of bounded staleness (ssp), with
// and without checkpoints. faults.md and faults.tsv come into the folder. The status is 1 where a promise is broken
// (faults/promises.hpp), whatever the times are. --short takes a few rows, with short waits. --story shows what each
// job said.
#include <atomic>
#include <fstream>
#include <mutex>
#include <thread>

#include "../examples/14_mnist_cluster/launcher.hpp"
#include "faults/report.hpp"

namespace {

using namespace faults;

std::vector<trial> all_trials() {
  std::vector<trial> all;
  for (const fault& f : all_faults())
    for (const role r : f.roles)
      for (const char* mode : {"async", "sync", "ssp"})
        for (const bool saves : {true, false})
          if (saves || f.means != means::small_disk) all.push_back({f, r, mode, saves});
  return all;
}

// A few that go through most of the ways in which a wait ends.
const std::vector<std::string> in_short{"kill -9 / chief / sync / saved",
                                        "kill -9, started again after 1 s / ps / async / saved",
                                        "kill -9 / worker / async / not saved",
                                        "kill -9, started again elsewhere after 1 s / ps / async / saved",
                                        "kill -9 / worker / sync / not saved",
                                        "kill -9 / worker / ssp / not saved",
                                        "kill -9 / launcher / async / saved",
                                        "SIGSTOP for 5 s / chief / sync / saved",
                                        "SIGSTOP for good / ps / async / saved",
                                        "SIGTERM / worker / async / not saved",
                                        "never starts / ps / ssp / not saved",
                                        "port taken by a stranger / ps / async / not saved",
                                        "started twice / chief / async / saved",
                                        "disk full for 5 s / chief / async / saved",
                                        "network cut for 5 s / ps / async / saved",
                                        "data lane silent / ps / async / not saved",
                                        "control lane silent / ps / ssp / saved",
                                        "half-open: connections are silent / ps / async / saved",
                                        "half-open: connections are silent / chief / ssp / not saved"};

class table {
 public:
  table(const words& w, world has)
      : world_(std::move(has)),
        shows_story_(w.has("--story")),
        limits_(w.has("--short") ? wait_limits{.max_wait = 7, .worker_timeout = 3, .look = 3, .short_wait = 10}
                                 : wait_limits{}) {
    for (const trial& t : all_trials()) {
      const bool chosen = !w.has("--short") || std::find(in_short.begin(), in_short.end(), t.name()) != in_short.end();
      if (chosen && t.name().find(w.get("--only")) != std::string::npos) trials_.push_back(t);
    }
    outcomes_.resize(trials_.size());
  }

  void list() const {
    for (const trial& t : trials_) fmt::print("{}\n", t.name());
  }
  // Runs so many jobs at a time. Each has a thread, since the system ends a process with the thread that started it.
  void run(int jobs) {
    std::vector<std::thread> threads;
    for (int j = 0; j < jobs; ++j)
      threads.emplace_back([this] {
        for (std::size_t i = next_++; i < trials_.size(); i = next_++) {
          outcomes_[i] = outcome_of(trials_[i], static_cast<int>(i) % 250 + 1);
          tell(outcomes_[i]);
        }
      });
    for (auto& t : threads) t.join();
  }
  void write(const std::string& folder) const {
    std::ofstream(folder + "/faults.md") << markdown(outcomes_);
    std::ofstream(folder + "/faults.tsv") << tab_separated(outcomes_);
  }
  // Prints "N passed, N failed", and returns whether none failed.
  bool sum_up() const {
    int passed = 0, failed = 0, skipped = 0;
    for (const outcome& o : outcomes_) ++(!o.skipped.empty() ? skipped : broken_promises(o).empty() ? passed : failed);
    fmt::print("{} rows skipped\n{} passed, {} failed\n", skipped, passed, failed);
    return failed == 0;
  }

 private:
  outcome outcome_of(const trial& t, int number) const try {
    const std::string why_not = t.fault.means == means::far_host     ? world_.no_hosts
                                : t.fault.means == means::small_disk ? world_.no_disks
                                                                     : "";
    if (!why_not.empty()) return {.of = t, .skipped = why_not};
    return trial_run(t, limits_, number).run();
  } catch (const std::exception& e) {
    return {.of = t, .broke = e.what()};
  }
  void tell(const outcome& o) {
    std::lock_guard hold(mutex_);
    const auto broken = broken_promises(o);
    fmt::print("[{}/{}] {}: {} s, {}; stood {:.1f} s, lost {} of {} ({} at risk), go on: {}; took {:.1f} s\n", ++told_,
               trials_.size(), o.of.name(), seconds_of(o), o.skipped.empty() ? o.sentence : o.skipped, o.stood, o.lost,
               o.accepted, o.at_risk, who_goes_on(o), o.took);
    for (const std::string& b : broken) fmt::print("  BROKEN: {}\n", b);
    if (!broken.empty() || shows_story_) fmt::print("{}", story(o));
    std::fflush(stdout);
  }

  const world world_;
  const bool shows_story_;
  const wait_limits limits_;
  std::vector<trial> trials_;
  std::vector<outcome> outcomes_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::size_t told_ = 0;
};

constexpr const char* usage =
    "bench_faults [--only=PART_OF_A_NAME] [--jobs=N] [--folder=.] [--list] [--short] [--story]\n";

int judge(const words& w) {
  if (const auto word = w.other_than({"--only", "--jobs", "--folder", "--list", "--short", "--story"}); !word.empty()) {
    fmt::print(stderr, "{}{}", word == "--help" ? "" : "faults: there is no word '" + word + "'\n", usage);
    return word == "--help" ? 0 : 2;
  }
  const world has = enter_own_world();
  ::setenv("PINION_KEY", "the key of all jobs of this table", 1);  // far hosts are not on the loopback
  table t(w, has);
  if (w.has("--list")) return t.list(), 0;
  t.run(w.count("--jobs", 7));
  if (!w.has("--short")) t.write(w.get("--folder", "."));
  return t.sum_up() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const words w(argc, argv);
  if (!w.has("--job") && !w.has("--launch")) return judge(w);
  ::dup2(STDOUT_FILENO, STDERR_FILENO);  // a task's lines come by one way
  if (w.has("--launch")) return launcher(1, workers).run(training::of(w).options()), 0;
  const int number = w.count("--task", 0);
  return be({w.get("--job"), number, cluster_of(w), training::of(w), number == 0 || w.has("--chief")});
} catch (const std::exception& e) {
  fmt::print("faults: {}\n", e.what());
  return 1;
}
