// Bodies of <pinion/distributed/master/session_partial_run.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include <pinion/distributed/master/session_partial_run.hpp>
#include <pinion/runtime/step/partial.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL session_partial_run::session_partial_run(master_services& services,
                                                     std::shared_ptr<const session_step> what, run_id id, share counted)
    : s_(services),
      step_(std::move(what)),
      id_(std::move(id)),
      counted_(std::move(counted)),
      meet_(s_.values.meeting_of(id_)),
      fed_(step_->signature.feeds.size()),
      fetched_(step_->signature.fetches.size()),
      run_targets_(step_->signature.targets.size()),
      fetches_(fetched_.size()),
      targets_(run_targets_.size()) {}

PINION_DECL void session_partial_run::begin(std::shared_ptr<session_run> run) {
  {
    std::lock_guard hold(mutex_);
    run_ = run;
  }
  await_ends();
  run->begin({}, false, {}, worker::begin_in::pool);
}

PINION_DECL void session_partial_run::await_ends() {
  const auto await = [this](const transfer_key& key, std::vector<std::optional<any_tensor>>& ends, std::size_t number) {
    meet_->receive(key, [self = shared_from_this(), &ends, number](outcome<handed_over> value) {
      if (value) self->came(ends, number, std::move(value).value().value);  // a failure comes with the end of the run
    });
  };
  for (std::size_t i = 0; i < fetches_.size(); ++i) await(runtime::fetch_key(i, step_->partial_at), fetches_, i);
  for (std::size_t i = 0; i < targets_.size(); ++i) await(runtime::target_key(i, step_->partial_at), targets_, i);
}

PINION_DECL void session_partial_run::came(std::vector<std::optional<any_tensor>>& ends, std::size_t number,
                                           any_tensor value) {
  std::vector<answer> over;
  {
    std::lock_guard hold(mutex_);
    ends[number] = std::move(value);
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const auto one = at++;
      if (is_there(*one)) over.push_back(end(one, values_of(*one)));
    }
  }
  for (answer& a : over) a.done(std::move(a.how));
}

PINION_DECL void session_partial_run::ended(const run_result& how) {
  std::unique_lock hold(mutex_);
  run_ = nullptr;
  failure_ = how.failure;
  while (failure_ && !waiting_.empty()) {
    answer over = end(waiting_.begin(), failure_);
    hold.unlock();
    over.done(std::move(over.how));
    hold.lock();
  }
}

PINION_DECL void session_partial_run::expect_feeds(std::uint64_t bytes) const {
  step_->expect_feeds_of(bytes);
}

PINION_DECL void session_partial_run::take(partial_call t, deadline until, share held, taken done) {
  std::unique_lock hold(mutex_);
  if (const shared_error why = failure_) {
    hold.unlock();
    return done(why);
  }
  use(t);
  if (!t.feeds.empty()) held_.push_back(held);
  const auto at = waiting_.insert(waiting_.end(), {t.fetches, t.targets, std::move(done), std::move(held)});
  std::optional<answer> over;
  if (is_there(*at))
    over = end(at, values_of(*at));
  else if (until)
    at->deadline = s_.watched->add(*until, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->fail_late();
    });
  hold.unlock();
  if (!t.feeds.empty())
    s_.values.compute(id_, [self = shared_from_this(), t = std::move(t)] {
      if (const auto fed = outcome_of([&] { self->feed(t); }); !fed) self->fail(*fed.failure());
    });
  if (over) over->done(std::move(over->how));
}

PINION_DECL void session_partial_run::feed(const partial_call& t) {
  for (std::size_t i = 0; i < t.feeds.size(); ++i)
    meet_->send(runtime::feed_key(t.feeds[i], step_->partial_at), handed_over(t.values[i]));
}

PINION_DECL std::shared_ptr<session_run> session_partial_run::run() const {
  std::lock_guard hold(mutex_);
  return run_;
}

PINION_DECL void session_partial_run::fail(const error& why) {
  if (const auto going_on = run()) going_on->fail(why);
}

PINION_DECL void session_partial_run::fail_late() {
  if (const auto going_on = run()) going_on->fail_late("a call of a partial run");
}

PINION_DECL void session_partial_run::use(const partial_call& t) {
  const auto note = [](const std::vector<std::uint64_t>& numbers, std::vector<bool>& used, const char* what) {
    for (const std::uint64_t n : numbers) {
      if (n >= used.size() || used[n])
        throw error(errc::invalid_argument, std::string("a call of a partial run names ") + what + " " +
                                                std::to_string(n) + ", which " +
                                                (n >= used.size() ? "the step does not have" : "was named before"));
      used[n] = true;
    }
  };
  auto fed = fed_, fetched = fetched_, targets = run_targets_;
  if (t.feeds.size() != t.values.size())
    throw error(errc::invalid_argument, "a call of a partial run names " + std::to_string(t.feeds.size()) +
                                            " feeds, and brings " + std::to_string(t.values.size()) + " values");
  note(t.feeds, fed, "feed");
  note(t.fetches, fetched, "fetch");
  note(t.targets, targets, "target");
  for (std::size_t i = 0; i < t.feeds.size(); ++i) step_->expect_feed(t.feeds[i], t.values[i]);
  fed_.swap(fed);
  fetched_.swap(fetched);
  run_targets_.swap(targets);
}

PINION_DECL bool session_partial_run::is_there(const waiting_call& t) const {
  const auto all = [](const auto& numbers, const auto& come) {
    return std::all_of(numbers.begin(), numbers.end(), [&](std::uint64_t n) { return come[n].has_value(); });
  };
  return all(t.fetches, fetches_) && all(t.targets, targets_);
}

PINION_DECL std::vector<any_tensor> session_partial_run::values_of(const waiting_call& t) {
  std::vector<any_tensor> values;
  for (const std::uint64_t n : t.fetches) values.push_back(std::move(*fetches_[n]));
  return values;
}

PINION_DECL session_partial_run::answer session_partial_run::end(waiting_ref at, outcome<std::vector<any_tensor>> how) {
  if (at->deadline) s_.watched->remove(*at->deadline);
  answer over{std::move(at->done), std::move(how)};
  waiting_.erase(at);
  return over;
}

}}}  // namespace pinion::v0::distributed
