// A worker's watch on the chief: it tells whether the chief is there, lost, back, or has ended.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/train/session/chief_sign.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Judges by the chief's sign, which the owner of the watch reads now and then. A value, for one thread.
class chief_watch {
 public:
  using clock = std::chrono::steady_clock;
  using time = clock::time_point;
  enum class change { none, lost, back, ended };

  // A chief that has given no sign of life for one and a half heartbeats counts as lost. Since it gives one each half
  // heartbeat, and is looked at each quarter, that is at most two heartbeats after it died. At the end of training all
  // end together; so a chief has ended, and left those who still look, two heartbeats after its sign says so.
  explicit chief_watch(std::chrono::milliseconds heartbeat) : heartbeat_(heartbeat) {}

  // Notes the sign as it is now, or nothing if there is none, and tells what has changed.
  change see(const std::optional<chief_note>& sign, time now);
  // Notes that the sign could not be read, which does not count as silence of the chief.
  void could_not_look(time now);
  bool is_lost() const { return is_lost_; }
  const std::string& name() const { return last_.name; }
  // The time since the last sign of life; once the chief is back, the time that it was away.
  clock::duration silence(time now) const { return is_lost_ ? now - alive_ : gap_; }

 private:
  std::chrono::milliseconds heartbeat_;
  chief_note last_{};
  time alive_{};
  clock::duration gap_{};
  bool is_lost_ = false, has_ended_ = false;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/chief_watch.ipp>
#endif
