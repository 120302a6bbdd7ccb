// Bodies of <pinion/runtime/local_turns.hpp>.
#pragma once

#include <utility>

#include <pinion/base/countdown.hpp>
#include <pinion/runtime/local_turns.hpp>
#include <pinion/runtime/step/turns.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

// The place of the ends of such a run, in the keys of its rendezvous.
constexpr std::string_view at_caller = "the caller";

}  // namespace detail

PINION_DECL void local_turns::take_turns(std::vector<partition>& parts, const step_signature& s) {
  runtime::take_turns(parts, s, detail::at_caller);
}

// The values that one turn waits for. Each is written by one callback, before that counts down.
struct local_turns::arrivals {
  explicit arrivals(std::size_t n) : left(static_cast<int>(n)), all(n) {}
  countdown left;
  std::vector<std::optional<outcome<handed_over>>> all;
};

PINION_DECL void local_turns::begin(std::function<void()> ended) {
  step_->start(state_, [self = shared_from_this(), ended = std::move(ended)] {
    self->step_ = nullptr;
    ended();
  });
}

PINION_DECL void local_turns::feed(std::size_t number, any_tensor value) {
  meet_.send(feed_key(number, detail::at_caller), std::move(value));
}

PINION_DECL std::vector<any_tensor> local_turns::await(std::span<const std::size_t> fetches,
                                                       std::span<const std::size_t> targets) {
  std::vector<std::string> keys;
  for (const std::size_t n : fetches) keys.push_back(fetch_key(n, detail::at_caller));
  for (const std::size_t n : targets) keys.push_back(target_key(n, detail::at_caller));
  const auto come = receive(keys);
  if (!come->left.wait(deadline())) {
    state_.fail(
        error(errc::deadline_exceeded, "a turn of a partial run did not end within the session's operation_timeout"));
    come->left.wait();
  }
  expect_well();
  std::vector<any_tensor> values;
  for (std::size_t i = 0; i < fetches.size(); ++i) values.push_back(std::move(come->all[i]->value().value));
  return values;
}

PINION_DECL std::shared_ptr<local_turns::arrivals> local_turns::receive(const std::vector<std::string>& keys) {
  const auto come = std::make_shared<arrivals>(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    meet_.receive(keys[i], [come, i](outcome<handed_over> value) {
      come->all[i].emplace(std::move(value));
      come->left.count_down();
    });
  return come;
}

PINION_DECL void local_turns::expect_well() const {
  outcome<>(state_.failure()).value();
}

PINION_DECL std::optional<std::chrono::steady_clock::time_point> local_turns::deadline() const {
  if (limit_.count() == 0) return std::nullopt;
  return std::chrono::steady_clock::now() + bounded(limit_);
}

}}}  // namespace pinion::v0::runtime
