// Bodies of <pinion/runtime/local_partial_run.hpp>.
#pragma once

#include <utility>

#include <pinion/base/countdown.hpp>
#include <pinion/runtime/local_partial_run.hpp>
#include <pinion/runtime/step/partial.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

// The place of the ends of such a run, in the keys of its rendezvous.
constexpr std::string_view at_caller = "the caller";

}  // namespace detail

PINION_DECL void local_partial_run::make_partial(std::vector<partition>& parts, const step_signature& s) {
  runtime::make_partial(parts, s, detail::at_caller);
}

// The values that one call waits for. Each is written by one callback, before that counts down.
struct local_partial_run::arrivals {
  explicit arrivals(std::size_t n) : left(static_cast<int>(n)), all(n) {}
  countdown left;
  std::vector<std::optional<outcome<handed_over>>> all;
};

PINION_DECL void local_partial_run::begin(std::function<void()> ended) {
  step_->start(state_, [self = shared_from_this(), ended = std::move(ended)] {
    self->step_ = nullptr;
    ended();
  });
}

PINION_DECL void local_partial_run::feed(std::size_t number, any_tensor value) {
  meet_.send(feed_key(number, detail::at_caller), std::move(value));
}

PINION_DECL std::vector<any_tensor> local_partial_run::await(std::span<const std::size_t> fetches,
                                                             std::span<const std::size_t> targets) {
  std::vector<transfer_key> keys;
  for (const std::size_t n : fetches) keys.push_back(fetch_key(n, detail::at_caller));
  for (const std::size_t n : targets) keys.push_back(target_key(n, detail::at_caller));
  const auto come = receive(keys);
  if (!come->left.wait(deadline())) {
    state_.fail(
        error(errc::deadline_exceeded, "a call of a partial run did not end within the session's operation_timeout"));
    come->left.wait();
  }
  expect_well();
  std::vector<any_tensor> values;
  for (std::size_t i = 0; i < fetches.size(); ++i) values.push_back(std::move(come->all[i]->value().value));
  return values;
}

PINION_DECL std::shared_ptr<local_partial_run::arrivals> local_partial_run::receive(
    const std::vector<transfer_key>& keys) {
  const auto come = std::make_shared<arrivals>(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    meet_.receive(keys[i], [come, i](outcome<handed_over> value) {
      come->all[i].emplace(std::move(value));
      come->left.count_down();
    });
  return come;
}

PINION_DECL void local_partial_run::expect_well() const {
  outcome<>(state_.failure()).value();
}

PINION_DECL std::optional<std::chrono::steady_clock::time_point> local_partial_run::deadline() const {
  if (limit_.count() == 0) return std::nullopt;
  return std::chrono::steady_clock::now() + bounded(limit_);
}

}}}  // namespace pinion::v0::runtime
