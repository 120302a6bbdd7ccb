// Bodies of <pinion/train/session/chief_watch.hpp>.
#pragma once

#include <utility>

#include <pinion/train/session/chief_watch.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL chief_watch::change chief_watch::see(const std::optional<chief_note>& sign, time now) {
  if (!sign) return change::none;
  if (sign->beat != last_.beat || sign->training != last_.training) {
    gap_ = now - alive_;
    alive_ = now;
    last_ = *sign;
    has_ended_ = false;
    return std::exchange(is_lost_, false) ? change::back : change::none;
  }
  const auto silence = now - alive_;
  if (last_.beat == chief_note::ended)
    return silence <= 2 * heartbeat_ || std::exchange(has_ended_, true) ? change::none : change::ended;
  return silence < heartbeat_ * 3 / 2 || std::exchange(is_lost_, true) ? change::none : change::lost;
}

PINION_DECL void chief_watch::could_not_look(time now) {
  if (!is_lost_ && last_.beat != chief_note::ended) alive_ = now;
}

}}}  // namespace pinion::v0::train
