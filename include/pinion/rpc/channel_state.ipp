// Bodies of <pinion/rpc/channel_state.hpp>.
#pragma once

#include <utility>

#include <pinion/base/insist.hpp>
#include <pinion/rpc/channel_state.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL std::string channel_state::peer() const {
  std::lock_guard hold(mutex_);
  return peer_;
}

PINION_DECL peer_place channel_state::target() const {
  std::lock_guard hold(mutex_);
  return target_;
}

PINION_DECL bool channel_state::has_other() const {
  std::lock_guard hold(mutex_);
  return !other_.address.empty();
}

PINION_DECL void channel_state::moved_to(const peer_place& first, const peer_place& otherwise) {
  std::lock_guard hold(mutex_);
  // The other one of two places is tried next if it was to be, however often the first one changes.
  const bool alternates = !other_.address.empty() || first.is_told;
  other_ = otherwise.address == first.address ? peer_place() : otherwise;
  next_ = lanes_.data && first.address != target_.address ? first : peer_place();
  if (lanes_.data) return;
  const bool other_is_next = alternates && !other_.address.empty() && target_.address == other_.address;
  target_ = first;
  if (other_is_next) std::swap(target_, other_);
}

PINION_DECL bool channel_state::switch_to_other() {
  std::lock_guard hold(mutex_);
  if (other_.address.empty()) return false;
  std::swap(target_, other_);
  return true;
}

PINION_DECL void channel_state::begin_attempts() {
  std::lock_guard hold(mutex_);
  failed_.reset();
  if (!why_down_) failed_ = error(errc::unavailable, "no answer so far");
}

PINION_DECL void channel_state::note_failure(const error& e) {
  std::lock_guard hold(mutex_);
  failed_ = e;
}

PINION_DECL std::string channel_state::last_failure() const {
  std::lock_guard hold(mutex_);
  return failed_ ? std::string(failed_->sentence()) : "no answer so far";
}

PINION_DECL bool channel_state::up() const {
  std::lock_guard hold(mutex_);
  return lanes_.data != nullptr;
}

PINION_DECL std::shared_ptr<connection> channel_state::connection_of(lane by) const {
  std::lock_guard hold(mutex_);
  return by == lane::data ? lanes_.data : lanes_.control;
}

PINION_DECL lane_pair channel_state::lanes() const {
  std::lock_guard hold(mutex_);
  return lanes_;
}

PINION_DECL std::uint64_t channel_state::incarnation() const {
  std::lock_guard hold(mutex_);
  return incarnation_;
}

PINION_DECL std::uint64_t channel_state::generation() const {
  std::lock_guard hold(mutex_);
  return generation_;
}

PINION_DECL error channel_state::why_down() const {
  std::lock_guard hold(mutex_);
  return why_down_.value_or(
      error(errc::unavailable, "there is no connection with " + peer_ + " at " + target_.address));
}

PINION_DECL task_view channel_state::view(const network& net, bool tls) const {
  std::lock_guard hold(mutex_);
  const time_point now = net.now();
  if (lanes_.data)
    return {.state = task_state::running,
            .silence = now - lanes_.last_heard(),
            .values_by = lanes_.data->memory() ? "shared memory"
                         : tls                 ? "TLS"
                                               : "TCP"};
  task_view seen{.state = left_, .silence = std::nullopt};
  if (heard_) seen.silence = now - *heard_;
  if (failed_ || why_down_) seen.reason = (failed_ ? failed_ : why_down_)->sentence();
  return seen;
}

PINION_DECL void channel_state::came_up(lane_pair lanes, std::string peer, std::uint64_t incarnation) noexcept {
  std::lock_guard hold(mutex_);
  if (peer_.empty()) peer_ = std::move(peer);
  lanes_ = std::move(lanes);
  incarnation_ = incarnation;
  ++generation_;
  why_down_.reset();
  failed_.reset();
}

PINION_DECL lane_pair channel_state::go_down(const error& why, task_state as) {
  std::lock_guard hold(mutex_);
  if (!lanes_.data) return {};
  lane_pair had = std::exchange(lanes_, {});
  if (!insist([&] { why_down_ = why; })) why_down_.emplace(why.code(), "");
  left_ = as;
  heard_ = had.last_heard();
  if (!next_.address.empty()) target_ = std::exchange(next_, {});
  return had;
}

}}}  // namespace pinion::v0::rpc
