// The ledger of a simulated job: what each worker was told is done, and what was saved; and the promises about both.
//
// With each step a worker adds 1 to every element of a vector of its own on a ps, and is given the vector. What the
// vector falls short of is lost, and what it is ahead was applied although the worker had heard of no success. The step
// adds 1 to a twin on another ps, too: both are of one checkpoint, or of no restore, but for steps that were cut short.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "scheduler.hpp"

namespace simulation {

inline double seconds(duration d) {
  return std::chrono::duration<double>(d).count();
}

// All that happens in a run, as a number: two runs of a seed have the same.
class history {
 public:
  explicit history(time_point start) : start_(start) {}

  bool told = false;  // every line goes to standard output
  void tell(std::string_view line) {
    const double at = seconds(now() - start_);
    const std::string said = fmt::format("{:.6f} {}", at, line);
    for (const char c : said) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
    if (told) fmt::print("{}\n", said);
    last_.push_back(said);
    if (last_.size() > 4000) last_.erase(last_.begin(), last_.begin() + 2000);
  }
  void broken(std::string_view promise) {
    tell(fmt::format("BROKEN: {}", promise));
    broken_.push_back(last_.back());
  }
  const std::vector<std::string>& broken() const { return broken_; }
  const std::vector<std::string>& last() const { return last_; }
  std::uint64_t digest() const { return digest_; }
  time_point start() const { return start_; }
  static time_point now() { return scheduler::now_running()->now(); }

 private:
  const time_point start_;
  std::uint64_t digest_ = 14695981039346656037u;
  std::vector<std::string> last_, broken_;
};

// The account of one worker.
struct account {
  std::int64_t told = 0;                    // the vector, as the last step that succeeded gave it
  std::int64_t saved = 0;                   // the vector in the last checkpoint that was told to be complete
  time_point saved_at{};                    // when it was told
  std::deque<time_point> open;              // when steps began that have not succeeded, and may have been applied
  std::deque<time_point> tried;             // the same, and those that were applied: to the twin perhaps not
  std::int64_t ahead = 0, saved_ahead = 0;  // of the vector the twin was, and is in the last checkpoint
  std::int64_t steps = 0, lost = 0, unheard = 0;
  time_point last{}, last_began{};  // when the last step that succeeded was told, and began

  std::int64_t most() const { return told + static_cast<std::int64_t>(open.size()); }
};

class ledger {
 public:
  ledger(history& h, int workers) : history_(h), accounts_(static_cast<std::size_t>(workers)) {}

  account& of(int worker) { return accounts_.at(static_cast<std::size_t>(worker)); }
  const std::vector<account>& all() const { return accounts_; }

  // A ps has lost its state.
  void lost_state() { lost_at_ = history::now(); }

  void begins(int worker) {
    of(worker).open.push_back(history::now());
    of(worker).tried.push_back(history::now());
  }
  // A step of a worker has succeeded, and was given its vector and the twin.
  void enter(int worker, std::int64_t now, std::int64_t twin) {
    account& mine = of(worker);
    compare(worker, mine, twin - now);
    const time_point began = mine.tried.back();
    mine.tried.pop_back();
    const std::int64_t expected = mine.told + 1;
    const bool is_saved = began <= mine.saved_at;  // perhaps: both are told when their process runs
    if (now < mine.saved + (is_saved ? 0 : 1))
      history_.broken(fmt::format("worker {} is at {}, and {} were in a checkpoint", worker, now, mine.saved));
    if (now < expected) {
      mine.lost += expected - now;
      // A step may have ended just before a ps was lost whose state it did not read.
      if (!lost_at_ || *lost_at_ + std::chrono::seconds(30) < mine.last_began)
        history_.broken(fmt::format("worker {} is at {}, not {}, and no ps was lost", worker, now, expected));
    }
    if (now > mine.most())
      history_.broken(
          fmt::format("worker {} is at {}, after {} and {} attempts", worker, now, mine.told, mine.open.size()));
    if (now > expected) mine.unheard += now - expected;
    for (auto used = now - mine.told; used > 0 && !mine.open.empty(); --used) mine.open.pop_back();
    mine.told = now;
    mine.last = history::now();
    mine.last_began = began;
    while (!mine.open.empty() && mine.open.front() < mine.last - most_late) mine.open.pop_front();
    ++mine.steps;
    history_.tell(fmt::format("worker {} is at {}", worker, now));
  }
  // A checkpoint was told to be complete, with this vector of a worker, and its twin.
  void saved(int worker, std::int64_t value, std::int64_t twin) {
    account& mine = of(worker);
    mine.saved = value;
    mine.saved_at = history::now();
    mine.saved_ahead = twin - value;
    if (value > mine.most())
      history_.broken(fmt::format("a checkpoint has {} of worker {}, after {} and {} attempts", value, worker,
                                  mine.told, mine.open.size()));
  }

 private:
  // Steps that have failed, and the one that was under way when the checkpoint was made, may be in one of the two.
  void compare(int worker, account& mine, std::int64_t ahead) {
    while (!mine.tried.empty() && mine.tried.front() < history::now() - most_late) mine.tried.pop_front();
    const auto may_differ = static_cast<std::int64_t>(mine.tried.size()) + 1;
    const auto off = std::min(std::abs(ahead - mine.ahead), std::abs(ahead - mine.saved_ahead));
    if (off > may_differ)
      history_.broken(fmt::format("the twin of worker {} is {} ahead, after {} and {} in a checkpoint", worker, ahead,
                                  mine.ahead, mine.saved_ahead));
    mine.ahead = ahead;
  }

  // A step that has failed is applied this long after it began, or never.
  static constexpr std::chrono::seconds most_late{120};

  history& history_;
  std::vector<account> accounts_;
  std::optional<time_point> lost_at_;
};

}  // namespace simulation
