// The key of a value that moves from one device to another.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/spec/device_spec.hpp>

namespace pinion { inline namespace v0 {

// Which value of a step it is, its source and its destination. Both sides derive it from the edge of the graph. A
// value, compared and hashed by its text, which goes over the wire:
// "W/read:0;/job:ps/…/device:CPU:0;/job:worker/…/device:CPU:0".
class transfer_key {
 public:
  transfer_key() = default;  // that of no value
  // `what` is the number of an output, or "done" for a control edge, and for several "all before NODE:done".
  transfer_key(std::string_view node, std::string_view what, std::string_view from, std::string_view to);
  // The key with this text. One that names no devices has neither source nor destination.
  explicit transfer_key(std::string text);

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }
  // The parts of the key. They refer to it.
  std::string_view edge() const { return std::string_view(text_).substr(0, from_); }
  std::string_view from() const { return std::string_view(text_).substr(from_, to_ - from_).substr(to_ > from_); }
  std::string_view to() const { return std::string_view(text_).substr(to_).substr(to_ < text_.size()); }
  std::string_view from_task() const { return task_of_device(from()); }
  std::string_view to_task() const { return task_of_device(to()); }
  // The value and where it comes from: "W/read:0 from /job:ps/replica:0/task:0".
  std::string title() const;
  // Is it a control edge, whose value is none?
  bool is_control() const { return edge().ends_with(":done"); }

  friend bool operator==(const transfer_key& a, const transfer_key& b) { return a.text_ == b.text_; }
  friend bool operator<(const transfer_key& a, const transfer_key& b) { return a.text_ < b.text_; }

 private:
  std::string text_;
  std::size_t from_ = 0, to_ = 0;  // where the semicolons stand before the source and the destination
};

}}  // namespace pinion::v0

template <>
struct std::hash<pinion::transfer_key> {
  std::size_t operator()(const pinion::transfer_key& k) const noexcept { return std::hash<std::string>()(k.text()); }
};

#if PINION_HEADER_ONLY
#include <pinion/opkit/transfer_key.ipp>
#endif
