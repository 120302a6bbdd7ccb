// One run of a step, as its master sees it.
//
// Invariants (numbers of protocol.md in brackets)
//   1. It ends once: with its fetches when every task has ended its part, or with the first failure. [R1, R2]
//   2. A failure cancels it on every task that takes part; its own end waits for the part of this task only, since
//      another may be dead. [R3]
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/master_services.hpp>
#include <pinion/distributed/session_step.hpp>
#include <pinion/distributed/waiting.hpp>

namespace pinion::inline v0::distributed {

// Shared by its session and by the answers that are under way. Thread-safe.
class session_run : public std::enable_shared_from_this<session_run> {
 public:
  using noticed = std::function<void(std::vector<std::string>)>;

  // `leave` is called before `done`, each once, in any thread.
  session_run(master_services& services, std::shared_ptr<const session_step> what, std::uint64_t number,
              std::function<void()> leave, noticed tell, run_ended done)
      : s_(services),
        step_(std::move(what)),
        number_(number),
        leave_(std::move(leave)),
        tell_(std::move(tell)),
        done_(std::move(done)) {
    for (const auto& part : step_->parts)
      if (part.task != s_.name) left_.insert(part.task);
  }

  // With `trace`, what the tasks did is in the result.
  void begin(std::uint64_t session, std::vector<any_tensor> feeds, bool trace, patience until, worker::begin_in where) {
    if (until) s_.net.spawn(watch(shared_from_this(), *until));
    const run_step request{session, step_->number, number_, trace};
    if (trace) began_ = clock_.emplace().now();
    for (const auto& part : step_->parts)
      if (part.task != s_.name)
        rpc::call<part_ended>(*s_.peers.way_to(part.task), rpc::lane::data, request,
                              std::function<void(part_ended, const error*)>(
                                  [self = shared_from_this(), task = part.task](part_ended end, const error* failed) {
                                    if (!end.notices.empty()) self->tell_(std::move(end.notices));
                                    self->ended_at(task, std::move(end.trace), failed);
                                  }));
    if (!step_->part_of(s_.name)) return ended_here({}, nullptr);
    s_.here.run(request, {}, std::move(feeds), step_->signature.fetches.size(), where,
                [self = shared_from_this(), session](run_result result, const error* failed) {
                  if (auto notices = self->s_.here.take_notices(session); !notices.empty())
                    self->tell_(std::move(notices));
                  self->ended_here(std::move(result), failed);
                });
  }

  void fail(const error& why) {
    {
      std::lock_guard hold(mutex_);
      if (failure_ || finished_) return;
      failure_ = why;
    }
    cancel(why);
    finish_if_over();
  }

 private:
  // Those that have ended their parts may still hold values that nobody will pull.
  void cancel(const error& why) {
    s_.here.cancel(number_, why);
    for (const auto& part : step_->parts)
      if (part.task != s_.name)
        s_.peers.way_to(part.task)->notify(rpc::lane::control, cancel_run::method,
                                           rpc::encode(cancel_run{number_, why}));
  }
  void ended_here(run_result result, const error* failed) {
    if (failed) fail(*failed);
    {
      std::lock_guard hold(mutex_);
      result_.fetches = std::move(result.fetches);
      add(std::move(result.trace));
      here_left_ = false;
    }
    finish_if_over();
  }
  void ended_at(const std::string& task, step_trace trace, const error* failed) {
    if (failed) fail(*failed);
    {
      std::lock_guard hold(mutex_);
      add(std::move(trace));
      left_.erase(task);
    }
    finish_if_over();
  }
  // With the lock. Other tasks have other clocks, but what they did lies within this run.
  void add(step_trace part) {
    if (clock_ && !part.events.empty()) result_.trace.merge(std::move(part), began_, clock_->now());
  }
  void finish_if_over() {
    {
      std::lock_guard hold(mutex_);
      if (finished_ || here_left_ || (!failure_ && !left_.empty())) return;
      finished_ = true;
    }
    s_.net.post([self = shared_from_this()] {
      if (self->timer_) self->timer_->cancel();
    });
    leave_();
    const auto done = std::move(done_);
    done(std::move(result_), failure_ ? &*failure_ : nullptr);
  }

  rpc::awaitable<void> watch(std::shared_ptr<session_run> self, time_point until) {
    timer_ = s_.net.make_timer();
    bool over = self->is_finished();
    if (!over) over = !co_await timer_->wait_until(until);
    if (!over) fail(too_late());
  }
  bool is_finished() const {
    std::lock_guard hold(mutex_);
    return finished_;
  }
  error too_late() const {
    std::string waits;
    if (const auto key = s_.here.waits_for(number_); !key.empty())
      waits = ": waiting for " + std::string(runtime::value_of(key)) + " from " +
              std::string(task_of_device(runtime::source_of(key)));
    std::lock_guard hold(mutex_);
    for (const auto& task : left_)
      waits += (waits.empty() ? ": " : "; ") + task + " has not ended its part" + heard(task);
    error e(errc::deadline_exceeded, "the step did not end within the session's operation_timeout" + waits);
    if (!left_.empty()) e.in_task(*left_.begin());
    return e;
  }
  std::string heard(const std::string& task) const {
    const auto way = s_.peers.way_to(task);
    if (!way->up()) return "";
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(way->silence()).count();
    return " (last heard " + std::to_string(ms) + " ms ago)";
  }

  master_services& s_;
  const std::shared_ptr<const session_step> step_;
  const std::uint64_t number_;
  const std::function<void()> leave_;
  const noticed tell_;
  run_ended done_;
  std::optional<step_tracer> clock_;  // of a run that is written down
  std::int64_t began_ = 0;
  std::unique_ptr<rpc::timer> timer_;  // of the network's thread

  mutable std::mutex mutex_;
  std::set<std::string> left_;  // other tasks that have not ended their parts
  bool here_left_ = true, finished_ = false;
  run_result result_;
  std::optional<error> failure_;
};

}  // namespace pinion::inline v0::distributed
