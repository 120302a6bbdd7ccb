// An entry of an event file, and its bytes. Source: TensorFlow's event.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The kind of an entry's contents; the number of its field in the message.
enum class event_kind : std::uint32_t {
  // An empty entry.
  nothing = 0,
  // The first entry of a file: "brain.Event:2".
  file_version = 3,
  // A GraphDef message (graph_message.hpp).
  graph = 4,
  // A Summary message: the values of a step.
  summary = 5,
  // A mark in the life of a session.
  session_log = 7,
  run_metadata = 8,
  meta_graph = 9
};

// One entry of an event file. A value.
struct event {
  double wall_time = 0;  // seconds since 1970
  // The global step that the entry belongs to.
  std::int64_t step = 0;
  event_kind kind = event_kind::nothing;
  std::string body = {};  // the contents of the field: text, or a serialized message
  friend bool operator==(const event&, const event&) = default;
};

// The bytes of an event. Throws invalid_argument if the time is not finite, or if the message is 2 GiB or more,
// which no reader takes; unimplemented in a build without protozero.
std::string encode(const event& e);
// The event of some bytes. Fields that it does not know are skipped. Throws data_loss if the bytes are no event;
// unimplemented in a build without protozero.
event decode_event(std::string_view bytes);

// A point of a curve: a tag and its value.
struct scalar_event {
  // The name of the curve.
  std::string tag;
  float value = 0;
  friend bool operator==(const scalar_event&, const scalar_event&) = default;
};
// The scalars of a summary event, in either of the two forms that writers use; none for an event of another kind.
// Throws data_loss if the body is no summary.
std::vector<scalar_event> scalars_of(const event& e);

// A mark in the life of a session. After a start with a step, TensorBoard drops the earlier points from that step on,
// which is right where a checkpoint was restored.
enum class session_mark : std::int32_t { start = 1, stop = 2, checkpoint = 3 };
// The serialized message of a mark.
std::string session_log_message(session_mark mark, std::string_view checkpoint_path);

// A hyperparameter of a run: a name and a number, a text or a flag. A value.
struct hyperparameter {
  // The type of the value.
  enum class type { number, text, flag };
  std::string name;
  type is = type::number;
  double number = 0;
  std::string text = {};

  // A text, a flag or a number, by the type of the argument.
  hyperparameter(std::string n, std::string v) : name(std::move(n)), is(type::text), text(std::move(v)) {}
  hyperparameter(std::string n, const char* v) : hyperparameter(std::move(n), std::string(v)) {}
  hyperparameter(std::string n, bool v) : name(std::move(n)), is(type::flag), number(v) {}
  template <class N>
  requires std::is_arithmetic_v<N> hyperparameter(std::string n, N v)
      : name(std::move(n)), number(static_cast<double>(v)) {}
};
// The serialized message of a run's hyperparameters, for TensorBoard's table of them.
std::string hyperparameters_message(const std::vector<hyperparameter>& all, double start_time);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/event.ipp>
#endif
