// Bodies of <pinion/distributed/master/session_runs.hpp>.
#pragma once

#include <chrono>
#include <utility>

#include <pinion/base/insist.hpp>
#include <pinion/distributed/master/session_runs.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

namespace detail {

// Throws unless a step takes such feeds: values, or what describes them.
template <class Value>
void check_feeds(const session_step& s, std::span<const Value> feeds) {
  if (s.is_partial()) throw error(errc::invalid_argument, "the step is one of partial runs");
  if (feeds.size() != s.feed_types.size())
    throw error(errc::invalid_argument, "the step takes " + std::to_string(s.feed_types.size()) + " feeds, not " +
                                            std::to_string(feeds.size()));
  for (std::size_t i = 0; i < feeds.size(); ++i) s.expect_feed(i, feeds[i]);
}

}  // namespace detail

PINION_DECL bool session_runs::is_open() const {
  std::lock_guard hold(mutex_);
  return !closed_;
}

PINION_DECL void session_runs::expect_open() const {
  std::lock_guard hold(mutex_);
  expect_open_held();
}

PINION_DECL void session_runs::expect_open_held() const {
  if (closed_) pinion::detail::throw_shared(closed_);
  if (*s_.stopping) throw rpc::is_stopping(s_.name);
}

PINION_DECL bool session_runs::close(const error& why) {
  std::map<std::uint64_t, std::shared_ptr<session_run>> running;
  decltype(partial_runs_) forgotten;  // without the lock
  {
    std::lock_guard hold(mutex_);
    if (closed_) return false;
    closed_ = pinion::detail::share(why);
    forgotten.swap(partial_runs_);
  }
  insist([&] { running = under_way(); });
  for (const auto& [number, r] : running) {
    r->fail(why);
    r->want_no_traces();
  }
  return true;
}

PINION_DECL std::map<std::uint64_t, std::shared_ptr<session_step>> session_runs::let_go() {
  std::lock_guard hold(mutex_);
  return std::exchange(steps_, {});
}

// ---- steps

PINION_DECL std::size_t session_runs::steps() const {
  std::lock_guard hold(mutex_);
  return steps_.size();
}

PINION_DECL void session_runs::add(std::shared_ptr<session_step> step) {
  std::lock_guard hold(mutex_);
  expect_open_held();
  const std::uint64_t number = step->number;
  steps_[number] = std::move(step);
}

PINION_DECL std::shared_ptr<session_step> session_runs::find(std::uint64_t number) const {
  std::lock_guard hold(mutex_);
  return find_held(number);
}

PINION_DECL std::shared_ptr<session_step> session_runs::find_held(std::uint64_t number) const {
  expect_open_held();
  const auto at = steps_.find(number);
  if (at == steps_.end()) throw error(errc::not_found, "the session has no such step");
  return at->second;
}

PINION_DECL void session_runs::expect_feeds(std::uint64_t number, std::span<const described_value> feeds) const {
  detail::check_feeds(*find(number), feeds);
}

PINION_DECL void session_runs::expect_feeds(std::uint64_t number, std::uint64_t bytes) const {
  find(number)->expect_feeds_of(bytes);
}

// ---- runs

PINION_DECL std::shared_ptr<session_run> session_runs::enter(std::shared_ptr<void> owner, std::uint64_t number,
                                                             const std::vector<any_tensor>& feeds,
                                                             const run_ended& done) {
  std::lock_guard hold(mutex_);
  const auto step = find_held(number);
  detail::check_feeds(*step, std::span<const any_tensor>(feeds));
  return enter_held(std::move(owner), ++last_run_, step, done);
}

PINION_DECL std::shared_ptr<session_run> session_runs::enter_held(std::shared_ptr<void> owner, std::uint64_t run,
                                                                  const std::shared_ptr<const session_step>& step,
                                                                  const run_ended& done) {
  session_run::listeners all{.leave = [this, owner, run](const shared_error& failure) { ended(run, failure); },
                             .tell = [this, owner](std::vector<std::string> notices) { tell(std::move(notices)); },
                             .done = done};
  return running_[run] = std::make_shared<session_run>(s_, step, run_id{session_, run}, client_, std::move(all));
}

PINION_DECL void session_runs::ended(std::uint64_t run, const shared_error& failure) {
  const time_point now = s_.net.now();
  counts_.ended(!failure, now);
  s_.steps->ended(!failure, now);
  if (failure) static_cast<void>(outcome_of([&] { s_.here.failures()->add_step(*failure); }));
  std::lock_guard hold(mutex_);
  running_.erase(run);
}

PINION_DECL void session_runs::tell(std::vector<std::string> notices) {
  constexpr std::size_t most = 256, longest = 4096;  // until the client takes them; workers say fewer, and shorter
  std::lock_guard hold(mutex_);
  for (std::string& one : notices)
    if (notices_.size() < most && one.size() <= longest) notices_.push_back(std::move(one));
}

PINION_DECL std::uint64_t session_runs::begin_partial_run(std::shared_ptr<void> owner, std::uint64_t number,
                                                          session_partial_run::share counted) {
  std::unique_lock hold(mutex_);
  const auto step = find_held(number);
  if (!step->is_partial()) throw error(errc::invalid_argument, "the step is not one of partial runs");
  const std::uint64_t run = ++last_run_;
  const auto partial = std::make_shared<session_partial_run>(s_, step, run_id{session_, run}, std::move(counted));
  const auto entered =
      enter_held(std::move(owner), run, step, [partial](const run_result& how) { partial->ended(how); });
  if (const auto known = outcome_of([&] { partial_runs_.emplace(run, partial); }); !known) {
    running_.erase(run);
    known.value();
  }
  hold.unlock();
  partial->begin(entered);
  return run;
}

PINION_DECL std::shared_ptr<session_partial_run> session_runs::partial_run(std::uint64_t number) const {
  std::lock_guard hold(mutex_);
  expect_open_held();
  const auto at = partial_runs_.find(number);
  if (at == partial_runs_.end()) throw error(errc::not_found, "the session has no such partial run");
  return at->second;
}

PINION_DECL void session_runs::end_partial_run(std::uint64_t number) {
  std::unique_lock hold(mutex_);
  const auto over = partial_runs_.extract(number);
  hold.unlock();
  if (over) over.mapped()->fail(error(errc::cancelled, "the partial run was given up before all of it had run"));
}

PINION_DECL std::vector<std::string> session_runs::take_notices() {
  std::lock_guard hold(mutex_);
  return std::exchange(notices_, {});
}

PINION_DECL std::map<std::uint64_t, std::shared_ptr<session_run>> session_runs::under_way() const {
  std::lock_guard hold(mutex_);
  return running_;
}

PINION_DECL void session_runs::say_long(const few_lines::sink& say) {
  for (const auto& [number, r] : under_way())
    if (r->say_if_long(s_.net.now(), say)) return;
}

PINION_DECL void session_runs::fail(const error& why) {
  for (const auto& [number, r] : under_way()) r->fail(why);
}

PINION_DECL std::size_t session_runs::running() const {
  std::lock_guard hold(mutex_);
  return running_.size();
}

PINION_DECL session_report session_runs::report() const {
  const time_point now = s_.net.now();
  const auto since = [now](time_point then) { return std::chrono::duration<double>(now - then).count(); };
  session_report all{.age = since(counts_.began()), .quiet = since(counts_.last()), .steps = counts_.report(now)};
  all.steps.running = running();
  return all;
}

}}}  // namespace pinion::v0::distributed
