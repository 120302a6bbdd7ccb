// Bodies of <pinion/distributed/worker/remote_rendezvous.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/inline_run.hpp>
#include <pinion/distributed/worker/remote_rendezvous.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void remote_rendezvous::send(const transfer_key& key, handed_over value) {
  const auto to = key.to_task();
  if (to != task_) return carrier_.carry(run_, key, to, std::move(value.value));
  receiver waiting;
  {
    std::lock_guard hold(mutex_);
    if (failure_) return;
    waiting = take_receiver(key);
    if (!waiting) local_.emplace(key, std::move(value));
  }
  if (waiting) waiting(std::move(value));
}

PINION_DECL void remote_rendezvous::receive(const transfer_key& key, receiver done) {
  outcome<handed_over> found = handed_over();
  std::string announced_by;
  {
    std::lock_guard hold(mutex_);
    if (failure_) {
      found = failure_;
    } else if (!take_value(key, found.value())) {
      if (receivers_.try_emplace(key, std::move(done)).second) {
        auto offer = announced_.extract(key);
        if (!offer) return;
        announced_by = std::move(offer.mapped());
        fetched_.insert(key);
      } else {
        found = received_twice(key);  // the receiver was not taken, and is called below
      }
    }
  }
  if (!announced_by.empty()) return fetch(key, announced_by);
  done(std::move(found));
}

PINION_DECL void remote_rendezvous::abort(const error& why) {
  const outcome<handed_over> aborted = why;
  std::unordered_map<transfer_key, receiver> waiting;
  {
    std::lock_guard hold(mutex_);
    if (failure_) return;
    failure_ = aborted.failure();
    waiting.swap(receivers_);
    local_.clear();
    arrived_.clear();
    announced_.clear();
  }
  for (auto& [key, done] : waiting) done(aborted);
}

PINION_DECL void remote_rendezvous::arrive(const transfer_key& key, arrival a) {
  receiver waiting;
  bool brief = false;
  {
    std::lock_guard hold(mutex_);
    if (failure_) return;
    waiting = take_receiver(key);
    if (!waiting) arrived_.emplace(key, std::move(a));
    brief = brief_;
  }
  if (!waiting) return;
  if (!brief) {
    const auto given =
        outcome_of([&] { carrier_.compute(run_, [waiting, value = a.value] { waiting(handed_over(value)); }); });
    return given ? void() : waiting(given.failure());
  }
  for (auto& longer : inline_run::run([&] { waiting(handed_over{std::move(a.value)}); }))
    if (!outcome_of([&] { carrier_.compute(run_, longer); })) longer();  // in this thread rather than not at all
}

PINION_DECL void remote_rendezvous::announce(const transfer_key& key, const std::string& by) {
  {
    std::lock_guard hold(mutex_);
    if (failure_ || fetched_.count(key) > 0) return;
    if (receivers_.count(key) == 0) {
      announced_.emplace(key, by);
      return;
    }
    fetched_.insert(key);
  }
  fetch(key, by);
}

PINION_DECL transfer_key remote_rendezvous::missing() const {
  std::lock_guard hold(mutex_);
  if (receivers_.empty()) return {};
  const auto afar = std::find_if(receivers_.begin(), receivers_.end(),
                                 [this](const auto& one) { return one.first.from_task() != task_; });
  return (afar == receivers_.end() ? receivers_.begin() : afar)->first;
}

PINION_DECL rendezvous::receiver remote_rendezvous::take_receiver(const transfer_key& key) {
  auto taken = receivers_.extract(key);
  return taken ? std::move(taken.mapped()) : receiver();
}

PINION_DECL bool remote_rendezvous::take_value(const transfer_key& key, handed_over& value) {
  if (auto from_here = local_.extract(key)) {
    value = std::move(from_here.mapped());
    return true;
  }
  if (auto from_afar = arrived_.extract(key)) {
    value = {std::move(from_afar.mapped().value)};
    return true;
  }
  return false;
}

PINION_DECL void remote_rendezvous::fetch(const transfer_key& key, const std::string& from) {
  carrier_.fetch(run_, key, from, [self = shared_from_this(), key](outcome<any_tensor> fetched) {
    if (fetched) return self->arrive(key, {std::move(fetched).value(), {}});
    receiver waiting;
    {
      std::lock_guard hold(self->mutex_);
      waiting = self->take_receiver(key);
    }
    if (waiting) waiting(fetched.failure());
  });
}

}}}  // namespace pinion::v0::distributed
