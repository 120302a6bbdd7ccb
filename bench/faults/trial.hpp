// One row of the table: a job runs, one fault strikes one of its tasks, and what comes of it is measured.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <pinion/train.hpp>
#include <pinion/train/checkpoint/checkpoint_reader.hpp>

#include "fault.hpp"
#include "ledger.hpp"
#include "scene.hpp"
#include "trainer.hpp"

namespace faults {

struct trial {
  faults::fault fault;
  role hurt;
  std::string mode;
  bool saves;

  std::string name() const {
    return fmt::format("{} / {} / {} / {}", fault.name, name_of(hurt), mode, saves ? "saved" : "not saved");
  }
};

// The limits of waits in a trial, in seconds.
struct wait_limits {
  double max_wait = 45, worker_timeout = 15;
  double look = 5;        // what goes on after a fault is looked at for so long
  double grace = 40;      // beyond the waits above nobody may wait longer than this
  double short_wait = 3;  // needs no words yet: two heartbeats, and what a machine takes besides
  double to_stop = 40;    // what a task may take to end when it is asked to
};

struct outcome {
  trial of;
  std::string skipped = {};            // why it was
  std::string broke = {};              // why it could not be made
  std::optional<double> noticed = {};  // seconds after the fault
  std::string sentence = {};           // which names the culprit first
  std::int64_t accepted = 0;           // steps that succeeded until the fault
  std::int64_t at_risk = 0;            // those of them that the last checkpoint lacks
  std::int64_t lost = 0, unheard = 0;
  double stood = 0;  // the longest time, in seconds, that a worker was there and made no step
  std::vector<std::string> go_on = {}, end = {},
                           wait = {};      // workers: those that make steps, those that have ended, and the rest
  std::vector<std::string> failures = {};  // "failed: ..." of each task that ended by an error
  std::vector<std::string> ends = {};      // how processes ended that are not killed by a trial
  std::vector<std::string> late = {};      // those that did not end when they were asked to
  std::vector<line> lines = {};            // all that was said
  double took = 0, short_wait = 0, worker_timeout = 0;
};

// For one thread.
class trial_run {
 public:
  trial_run(const trial& t, const wait_limits& p, int number)
      : t_(t),
        p_(p),
        folder_(std::filesystem::temp_directory_path() / fmt::format("pinion_faults_{}_{}", ::getpid(), number)) {
    std::filesystem::create_directories(folder_);
    const training how{.mode = t.mode,
                       .folder = t.saves ? folder_ / "saved" : "",
                       .ledger = folder_ / "ledger",
                       .max_wait = p.max_wait,
                       .worker_timeout = p.worker_timeout,
                       .elastic = t.fault.elastic,
                       .shared_memory = t.fault.means != means::proxy};  // which would go past it
    ledger_.emplace(how.ledger);
    scene_.emplace(t.hurt, t.fault.means, how, number);
  }
  trial_run(const trial_run&) = delete;
  ~trial_run() {
    scene_.reset();
    std::filesystem::remove_all(folder_);
  }

  outcome run() {
    out_.of = t_;
    out_.short_wait = p_.short_wait;
    out_.worker_timeout = p_.worker_timeout;
    start();
    strike();
    settle();
    judge();
    end();
    out_.lines = job().lines();
    out_.took = job().now();
    return out_;
  }

 private:
  faults::job& job() { return scene_->job; }
  bool by_launcher() const { return t_.hurt == role::launcher; }

  // ---- the beginning

  void start() {
    if (by_launcher()) job().start_launcher();
    for (const member& m : all_members())
      if (!by_launcher() && !(t_.fault.at_start && m == scene_->victim)) job().start(m);
    if (t_.fault.at_start) return;
    const double limit = job().now() + p_.grace + p_.worker_timeout;
    while (!flows()) {
      if (job().now() > limit) throw std::runtime_error("the job did not begin: " + last_words());
      watch();
    }
  }
  // Every worker has made some steps, and one checkpoint is there at least.
  bool flows() const {
    for (int w = 0; w < workers; ++w)
      if (ledger_->of(w).accepted < 30) return false;
    return !t_.saves || !pinion::train::latest_checkpoint(folder_ / "saved").empty();
  }
  std::string last_words() {
    std::string text = job().lines().empty() ? "it said nothing" : job().lines().back().text;
    for (const auto& [name, how] : job().ends()) text += fmt::format("; {} {}", name, how);
    return text;
  }

  // ---- the fault, and what comes of it

  void strike() {
    const std::int64_t kept = saved();
    struck_ = job().now();
    t_.fault.strike(*scene_);
    has_struck_ = true;
    out_.accepted = ledger_->sum(&account::accepted);
    out_.at_risk = out_.accepted - kept + (t_.fault.at_start ? 0 : workers);  // a step of each may just be ending
    if (t_.fault.undone_after < 0) return;
    while (job().now() < struck_ + t_.fault.undone_after) watch();
    t_.fault.undo(*scene_);
  }
  // The steps that the last checkpoint knows.
  std::int64_t saved() const {
    const std::string last = t_.saves ? pinion::train::latest_checkpoint(folder_ / "saved") : "";
    if (last.empty()) return 0;
    const pinion::train::checkpoint_reader reader(last);
    std::int64_t all = 0;
    for (int w = 0; w < workers; ++w) all += *reader.read(name_of_count(w)).data<std::int64_t>();
    return all;
  }
  // Until every worker that can goes on or has ended; but no longer than anybody may wait.
  void settle() {
    const double since = job().now(), limit = since + p_.max_wait + p_.worker_timeout + p_.grace;
    while (job().now() < since + p_.look || (!is_settled() && job().now() < limit)) watch();
  }
  bool is_settled() {
    for (int w = 0; w < workers; ++w)
      if (is_there(w) && !makes_steps(w)) return false;
    return true;
  }
  bool is_there(int w) {
    if (by_launcher()) return job().runs("launcher 0");
    return job().runs(member{"worker", w}.name()) && !job().is_stopped(member{"worker", w}.name());
  }
  bool makes_steps(int w) { return job().now() - stepped_[static_cast<std::size_t>(w)] < 2; }

  void watch() {
    job().listen(20);
    for (std::size_t w = 0; w < workers; ++w)
      if (const auto n = ledger_->of(static_cast<int>(w)).accepted.load(); n != seen_[w]) {
        seen_[w] = n;
        stepped_[w] = job().now();
      } else if (has_struck_ && is_there(static_cast<int>(w))) {
        note_standing(w);
      }
  }
  // A process that has been started since is not there before its first step.
  void note_standing(std::size_t w) {
    if (by_launcher()) return;
    const double started = job().started(member{"worker", static_cast<int>(w)}.name());
    if (started > struck_ && stepped_[w] < started) return;
    out_.stood = std::max(out_.stood, job().now() - std::max(stepped_[w], struck_));
  }

  // ---- what came of it

  void judge() {
    for (int w = 0; w < workers; ++w) {
      const std::string name = member{"worker", w}.name();
      if (makes_steps(w)) {
        out_.go_on.push_back(name);
      } else if (is_there(w)) {
        out_.wait.push_back(name);
      } else {
        out_.end.push_back(name);
      }
    }
    for (const line& l : job().lines()) {
      if (l.at < struck_) continue;
      if (l.text.find(": failed: ") != l.text.npos) out_.failures.push_back(l.text);
      if (out_.noticed || !names_culprit(l.text)) continue;
      out_.noticed = l.at - struck_;
      out_.sentence = l.text;
    }
    out_.lost = ledger_->sum(&account::lost);
    if (out_.go_on.empty()) out_.lost = std::max<std::int64_t>(0, ledger_->sum(&account::accepted) - saved());
    out_.unheard = ledger_->sum(&account::unheard);
  }
  bool names_culprit(const std::string& text) {
    for (const std::string& name : culprits())
      if (text.find(name) != text.npos) return true;
    return false;
  }
  std::vector<std::string> culprits() {
    const member& v = scene_->victim;
    if (by_launcher()) return {"asked to stop"};
    std::vector<std::string> all{fmt::format("/job:{}/replica:0/task:{}", v.job, v.task),
                                 fmt::format("/job:{}/task:{}", v.job, v.task), job().cluster().address(v.job, v.task)};
    if (t_.fault.culprits)
      for (const std::string& one : t_.fault.culprits(*scene_)) all.push_back(one);
    return all;
  }

  // ---- the end: who is there is asked to end, workers first

  void end() {
    for (const auto& [name, how] : job().ends()) out_.ends.push_back(name + " " + (how.empty() ? "ended well" : how));
    std::vector<std::string> asked;
    if (by_launcher()) asked = {"launcher 0"};
    for (int w = 0; !by_launcher() && w < workers; ++w) asked.push_back(member{"worker", w}.name());
    ask_to_end(asked);
    if (!by_launcher()) ask_to_end({"ps 0"});
  }
  void ask_to_end(const std::vector<std::string>& names) {
    const auto there = [&](const std::string& name) { return job().runs(name) && !job().is_stopped(name); };
    for (const std::string& name : names)
      if (there(name)) job().signal(name, SIGTERM);
    const double limit = job().now() + p_.to_stop;
    while (std::any_of(names.begin(), names.end(), there) && job().now() < limit) job().listen(20);
    for (const std::string& name : names)
      if (there(name)) out_.late.push_back(name);
  }

  const trial t_;
  const wait_limits p_;
  const std::filesystem::path folder_;
  std::optional<ledger> ledger_;
  std::optional<scene> scene_;
  double struck_ = 0;
  bool has_struck_ = false;
  std::array<std::int64_t, workers> seen_{};
  std::array<double, workers> stepped_{-9, -9, -9};
  outcome out_;
};

}  // namespace faults
