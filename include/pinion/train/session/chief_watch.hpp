// A worker's eye on the chief: is it there, lost, or back?
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/train/session/chief_sign.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Judges by the chief's sign, which its owner looks at now and then. A value, for one thread.
class chief_watch {
 public:
  using clock = std::chrono::steady_clock;
  using time = clock::time_point;
  enum class change { none, lost, back };

  // A chief of which there was no sign of life for one and a half heartbeats is lost: with how often it gives one, and
  // is looked at, that is at most two after it died.
  explicit chief_watch(std::chrono::milliseconds heartbeat) : patience_(heartbeat * 3 / 2) {}

  // The sign as it is now; nothing where there is none.
  change see(const std::optional<chief_note>& sign, time now);
  // It could not be looked at: that is not the chief's silence.
  void could_not_look(time now);
  bool is_lost() const { return is_lost_; }
  const std::string& name() const { return last_.name; }
  // Since its last sign of life; once it is back, that before.
  clock::duration silence(time now) const { return is_lost_ ? now - alive_ : gap_; }

 private:
  std::chrono::milliseconds patience_;
  chief_note last_{};
  time alive_{};
  clock::duration gap_{};
  bool is_lost_ = false;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/chief_watch.ipp>
#endif
