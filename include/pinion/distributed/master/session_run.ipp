// Bodies of <pinion/distributed/master/session_run.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <pinion/base/insist.hpp>
#include <pinion/base/log.hpp>
#include <pinion/base/said_wait.hpp>
#include <pinion/distributed/master/session_run.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL session_run::session_run(master_services& services, std::shared_ptr<const session_step> what, run_id id,
                                     std::uint64_t client, listeners heard_by)
    : s_(services),
      step_(std::move(what)),
      id_(std::move(id)),
      client_(client),
      heard_by_(std::move(heard_by)),
      born_(s_.net.now()),
      last_word_(born_) {
  for (const auto& part : step_->parts)
    if (part.task != s_.name) left_.insert(part.task);
}

PINION_DECL void session_run::begin(std::vector<any_tensor> feeds, bool trace, deadline until, worker::begin_in where) {
  const auto begun = outcome_of([&] { begin_parts(std::move(feeds), trace, until, where); });
  if (begun) return;
  fail(*begun.failure());
  want_no_traces();
  ended_here(run_result());  // nothing began here: that is the last thing which can fail
}

PINION_DECL void session_run::begin_parts(std::vector<any_tensor> feeds, bool trace, deadline until,
                                          worker::begin_in where) {
  if (until) watch(*until);
  const run_step request{id_, step_->number, trace};
  if (trace) began_ = clock_.emplace().now();
  for (const auto& part : step_->parts)
    if (part.task != s_.name)
      rpc::call<part_ended>(*s_.peers.route_to(part.task), rpc::lane::data, request,
                            [self = shared_from_this(), task = part.task](outcome<part_ended> ended) {
                              self->ended_at(task, std::move(ended));
                            });
  if (!step_->part_of(s_.name)) return ended_here(run_result());
  const std::size_t fetches = step_->is_partial() ? 0 : step_->signature.fetches.size();
  s_.here.run(request, {.client = client_}, std::move(feeds), fetches, where,
              [self = shared_from_this()](run_result part) {
                static_cast<void>(outcome_of([&] { self->tell(self->s_.here.take_notices(self->id_.session)); }));
                self->ended_here(std::move(part));
              });
}

PINION_DECL void session_run::fail(const error& why) {
  {
    std::lock_guard hold(mutex_);
    if (failure_ || finished_) return;
    failure_ = pinion::detail::share(why);
    wants_traces_ = clock_ && outcome_of([&] {
                      call_at(s_.net.now() + max_wait_for_traces, [](session_run& r) { r.want_no_traces(); });
                    });
  }
  cancel(why);
  finish_if_over();
}

PINION_DECL void session_run::tell(std::vector<std::string> notices) const {
  if (!notices.empty()) heard_by_.tell(std::move(notices));
}

PINION_DECL void session_run::fail_late(const std::string& what) {
  fail(too_late(what));
}

PINION_DECL void session_run::want_no_traces() {
  {
    std::lock_guard hold(mutex_);
    wants_traces_ = false;
  }
  finish_if_over();
}

PINION_DECL void session_run::cancel(const error& why) {
  insist([&] { s_.here.cancel(id_, why); });
  for (const auto& part : step_->parts)
    if (part.task != s_.name)
      insist([&] {
        s_.peers.route_to(part.task)->notify(rpc::lane::control, cancel_run::method, rpc::encode(cancel_run{id_, why}));
      });
}

PINION_DECL void session_run::settle() {
  for (const auto& task : holding_)
    insist([&] {
      if (task == s_.name) return s_.here.settle(id_);
      // In the lane in which its session is forgotten, which would give back what it has taken.
      s_.peers.route_to(task)->notify(rpc::lane::data, settle_run::method, rpc::encode(settle_run{id_}));
    });
}

PINION_DECL void session_run::ended_here(run_result part) {
  if (part.failure) fail(*part.failure);
  {
    std::lock_guard hold(mutex_);
    result_.fetches = std::move(part.fetches);
    if (part.holds) insist([&] { holding_.push_back(s_.name); });
    static_cast<void>(outcome_of([&] { add(std::move(part.trace)); }));
    here_left_ = false;
  }
  finish_if_over();
}

PINION_DECL void session_run::ended_at(const std::string& task, outcome<part_ended> part) {
  if (const auto& why = part ? part.value().failure : part.failure()) fail(*why);
  if (part) static_cast<void>(outcome_of([&] { tell(std::move(part.value().notices)); }));
  {
    std::lock_guard hold(mutex_);
    if (part && part.value().holds) insist([&] { holding_.push_back(task); });
    if (part) static_cast<void>(outcome_of([&] { add(std::move(part.value().trace)); }));
    left_.erase(task);
  }
  finish_if_over();
}

PINION_DECL void session_run::add(step_trace part) {
  if (clock_ && !finished_) result_.trace.merge(std::move(part), began_, clock_->now());
}

PINION_DECL void session_run::finish_if_over() {
  run_result result;
  {
    std::lock_guard hold(mutex_);
    if (finished_ || here_left_ || !waits_for_nobody()) return;
    finished_ = true;
    result = std::move(result_);
    if (!failure_) settle();  // before anybody finds it finished, and forgets its session
  }
  result.failure = failure_;
  if (failure_) result.fetches.clear();
  for (const auto& d : deadlines_) s_.watched->remove(d);
  insist([&] { heard_by_.leave(failure_); });
  const auto done = std::move(heard_by_.done);
  done(std::move(result));
}

PINION_DECL bool session_run::waits_for_nobody() const {
  return left_.empty() || (failure_ && !wants_traces_);
}

PINION_DECL void session_run::watch(time_point until) {
  const rpc::duration in = until - s_.net.now(), for_answers = std::min<rpc::duration>(in / 4, std::chrono::seconds(1));
  call_at(until - for_answers, [](session_run& r) { r.ask_for_progress(); });
  call_at(until, [](session_run& r) { r.fail_late("the step"); });
}

PINION_DECL void session_run::call_at(time_point when, void (*what)(session_run&)) {
  deadlines_.push_back(s_.watched->add(when, [run = weak_from_this(), what] {
    const auto self = run.lock();
    if (!self) return;
    if (const auto called = outcome_of([&] { what(*self); }); !called) self->fail(*called.failure());
  }));
}

PINION_DECL void session_run::ask_for_progress() {
  std::set<std::string> tasks;
  {
    std::lock_guard hold(mutex_);
    tasks = left_;
  }
  for (const auto& task : tasks)
    rpc::call<progress_reply>(
        *s_.peers.route_to(task), rpc::lane::control, progress_request{id_},
        [self = shared_from_this(), task](outcome<progress_reply> told) {
          if (!told) return;
          std::lock_guard hold(self->mutex_);
          static_cast<void>(outcome_of([&] { self->progress_.insert_or_assign(task, std::move(told).value()); }));
        });
}

PINION_DECL error session_run::too_late(const std::string& what) const {
  const std::string whom = waits_for();
  error e(errc::deadline_exceeded, what + " did not end within " + operation_limit + (whom.empty() ? "" : ": ") + whom);
  std::lock_guard hold(mutex_);
  if (!left_.empty()) e.in_task(*left_.begin());
  return e;
}

PINION_DECL std::string session_run::waits_for() const {
  std::string all = own_part();
  std::lock_guard hold(mutex_);
  for (const auto& task : left_) all += (all.empty() ? "" : "; ") + state_of(task);
  return all;
}

PINION_DECL std::string session_run::own_part() const {
  if (const auto key = s_.here.waits_for(id_); !key.empty()) return "waiting for " + key.title();
  const auto told = outcome_of([this] { return s_.here.progress_of(id_); });
  return told && !told.value().nodes.empty() ? fmt::format("its own part is in {}", fmt::join(told.value().nodes, ", "))
                                             : "";
}

PINION_DECL bool session_run::say_if_long(time_point now, const few_lines::sink& say) {
  constexpr std::chrono::milliseconds for_answers{1500};  // more than the second between two calls
  const rpc::duration interval = pinion::detail::silence_of_waits();
  if (step_->is_partial()) return false;
  bool asks = false, says = false;
  {
    std::lock_guard hold(mutex_);
    if (finished_) return true;
    says = now >= last_word_ + interval;
    asks = !says && now >= last_word_ + interval - for_answers && !std::exchange(asked_, true);
    if (says) last_word_ = now, asked_ = false;
  }
  if (asks) ask_for_progress();
  if (!says) return true;
  const std::string whom = waits_for();
  say("has run a step for " + rpc::seconds(now - born_) +
      ", and waits: " + (whom.empty() ? "nothing is known of its own part, and all others have ended theirs" : whom));
  return true;
}

PINION_DECL std::string session_run::state_of(const std::string& task) const {
  std::string text = task + " has not ended its part (" + to_string(s_.peers.route_to(task)->view()) + ")";
  const auto at = progress_.find(task);
  if (at == progress_.end()) return text;
  text += ": it answers, and " + rpc::seconds(from_ms(at->second.ms).value_or(rpc::duration())) +
          " after the beginning it was ";
  if (at->second.nodes.empty()) return text + "still at work";
  return fmt::format("{}in {}", text, fmt::join(at->second.nodes, ", "));
}

}}}  // namespace pinion::v0::distributed
