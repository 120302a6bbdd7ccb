// The sign of the chief: a line of text in the cluster, beside the global step, by which others know that it is there,
// and a chief that is started again knows its own variables.
//
//   "11743250317722 84 /job:worker/replica:0/task:0"
//    training       beat  name
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/runtime/session.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The text of the sign, taken apart. A value.
struct chief_note {
  static constexpr std::int64_t ended = -1;

  std::uint64_t training = 0;  // whose variables these are
  std::int64_t beat = 0;       // another one each time, while the chief is there; `ended` once training is over
  std::string name = {};       // of the chief's task
};

// The nodes of the sign in a graph, on the task of the global step; they are in no collection, so that it is neither
// initialised nor saved with the variables. Refers to the graph. Thread-safe.
class chief_sign {
 public:
  // Makes them in the default graph, unless it has them. Nothing where it has no global step, or takes no more nodes.
  static std::optional<chief_sign> of_default_graph(source_location where = source_location::current());

  void put(session& on, const chief_note& note) const;
  // Nothing where no chief has put one, or none that can be read.
  std::optional<chief_note> look(session& on) const;
  // The name of the session's own task.
  std::string own_task(session& on) const;

 private:
  // Finds its nodes in the collection "chief_sign".
  explicit chief_sign(graph& g);
  expr<std::string> note_;  // to be fed
  operation put_;
  expr<std::string> text_;
  operation here_;  // asks for no device
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/chief_sign.ipp>
#endif
