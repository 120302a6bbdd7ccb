// One entry of an event file, and its bytes. Source: TensorFlow's event.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace train {

// What an entry holds; the number of its field.
enum class event_kind : std::uint32_t {
  nothing = 0,
  file_version = 3,
  graph = 4,
  summary = 5,
  session_log = 7,
  run_metadata = 8,
  meta_graph = 9
};

struct event {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
  event_kind kind = event_kind::nothing;
  std::string body = {};  // of the field: text, or a serialized message
  friend bool operator==(const event&, const event&) = default;
};

// Throws invalid_argument where the time is not finite or the message too long for readers, 2 GiB.
std::string encode(const event& e);
// Throws data_loss where the bytes are none of an event. Fields that it does not know are skipped.
event decode_event(std::string_view bytes);

// The numbers of a summary, in either form in which they are written.
struct scalar_event {
  std::string tag;
  float value = 0;
  friend bool operator==(const scalar_event&, const scalar_event&) = default;
};
// None of an event of another kind. Throws data_loss where its body is no summary.
std::vector<scalar_event> scalars_of(const event& e);

// A mark in the life of a session. A start with a step purges, in TensorBoard, the points from that step on that came
// before: what is right where a checkpoint is restored.
enum class session_mark : std::int32_t { start = 1, stop = 2, checkpoint = 3 };
std::string session_log_message(session_mark mark, std::string_view checkpoint_path);

// What hyperparameters a run has.
struct hyperparameter {
  enum class type { number, text, flag };
  std::string name;
  type is = type::number;
  double number = 0;
  std::string text = {};

  hyperparameter(std::string n, std::string v) : name(std::move(n)), is(type::text), text(std::move(v)) {}
  hyperparameter(std::string n, const char* v) : hyperparameter(std::move(n), std::string(v)) {}
  hyperparameter(std::string n, bool v) : name(std::move(n)), is(type::flag), number(v) {}
  template <class N>
  requires std::is_arithmetic_v<N> hyperparameter(std::string n, N v)
      : name(std::move(n)), number(static_cast<double>(v)) {}
};
std::string hyperparameters_message(const std::vector<hyperparameter>& all, double start_time);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/event.ipp>
#endif
