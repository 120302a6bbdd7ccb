// Bodies of <pinion/runtime/step/step_state.hpp>.
#pragma once

#include <string>
#include <utility>

#include <pinion/runtime/step/step_state.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL std::string running_node(const node& n) {
  return "'" + n.name + "' (" + n.op + ")";
}

PINION_DECL void step_state::check_deadline(const node* last) {
  if (deadline && std::chrono::steady_clock::now() > *deadline) fail(too_late(last));
}

PINION_DECL error step_state::too_late(const node* last) const {
  std::string in = last ? running_node(*last) : where();
  if (!in.empty()) in = ": it was in " + in;
  return error(errc::deadline_exceeded, "the step did not end within the session's operation_timeout" + in);
}

PINION_DECL void step_state::fail(const error& why) {
  {
    std::lock_guard hold(mutex_);
    if (failure_ || ended_) return;
    failure_ = pinion::detail::share(why);
    failed_.store(true, std::memory_order_release);
  }
  rendezvous->abort(why);
  cancellation.cancel(reason_of(why));
}

PINION_DECL cancellation::reason step_state::reason_of(const error& failure) {
  // No value of the step is to blame for these.
  const bool given_up = failure.code() == errc::cancelled || failure.code() == errc::deadline_exceeded ||
                        failure.code() == errc::unavailable || failure.code() == errc::aborted;
  return given_up ? cancellation::reason::given_up : cancellation::reason::failed;
}

PINION_DECL shared_error step_state::end() {
  std::lock_guard hold(mutex_);
  ended_ = true;
  return failure_;
}

PINION_DECL shared_error step_state::failure() const {
  if (!failed_.load(std::memory_order_acquire)) return nullptr;
  std::lock_guard hold(mutex_);
  return failure_;
}

PINION_DECL std::vector<std::string> step_state::under_way(std::size_t most) const {
  std::vector<std::string> names;
  std::lock_guard hold(mutex_);
  for (const step_part* const part : parts_) part->list_under_way(names, most);
  return names;
}

PINION_DECL std::string step_state::where() const {
  constexpr std::size_t most_named = 4;
  std::string all;
  for (const std::string& name : under_way(most_named)) all += (all.empty() ? "" : ", ") + name;
  return all;
}

PINION_DECL void step_state::add_part(const step_part& part) {
  std::lock_guard hold(mutex_);
  parts_.push_back(&part);
}

PINION_DECL void step_state::remove_part(const step_part& part) {
  std::lock_guard hold(mutex_);
  std::erase(parts_, &part);
}

PINION_DECL cuda::first_wrong* step_state::expect_values(devices::device& on, describe_wrong describe) {
  std::lock_guard hold(mutex_);
  return wrong_values_[&on].expect(on, std::move(describe));
}

PINION_DECL cuda::wrong_places step_state::wrong_so_far(devices::device& on) {
  std::lock_guard hold(mutex_);
  const auto at = wrong_values_.find(&on);
  return at == wrong_values_.end() ? cuda::wrong_places{} : at->second.so_far(on);
}

PINION_DECL void step_state::add_expected(devices::device& on, const any_tensor& places,
                                          std::vector<describe_wrong> describe) {
  std::lock_guard hold(mutex_);
  wrong_values_[&on].add(places, std::move(describe));
}

PINION_DECL std::optional<wrong_values> step_state::take_wrong_values(const devices::device& of) {
  std::lock_guard hold(mutex_);
  const auto at = wrong_values_.find(&of);
  if (at == wrong_values_.end()) return std::nullopt;
  auto taken = std::move(at->second);
  wrong_values_.erase(at);
  return taken;
}

}}}  // namespace pinion::v0::runtime
