// The sign of the chief: a line of text in the cluster, beside the global step. By it the other workers know that the
// chief is there, and a chief that was started again knows which variables are its own.
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

// The parts of a sign's text. A value.
struct chief_note {
  static constexpr std::int64_t ended = -1, writes = -2;

  std::uint64_t training = 0;  // the number of the training that the variables belong to
  std::int64_t beat = 0;       // changes each time while the chief is there; `ended` once training is over
                               // `writes` while the chief restores or initialises the variables
  std::string name = {};       // the name of the chief's task
};

// The nodes of the sign in a graph, on the task of the global step. They are in no collection of variables, so that the
// sign is neither initialised nor saved with them. It refers to the graph. Thread-safe.
class chief_sign {
 public:
  // Makes the nodes in the default graph, unless it has them. Returns nothing if the graph has no global step, or is
  // finalized.
  static std::optional<chief_sign> of_default_graph(source_location where = source_location::current());

  // Writes the sign.
  void put(session& on, const chief_note& note) const;
  // Reads the sign; empty if no chief has written one, or if the text cannot be read.
  std::optional<chief_note> look(session& on) const;
  // The name of the session's own task, such as "/job:worker/replica:0/task:0".
  std::string own_task(session& on) const;

 private:
  // Finds the nodes in the collection "chief_sign".
  explicit chief_sign(graph& g);
  expr<std::string> note_;  // the placeholder of the new text
  operation put_;
  expr<std::string> text_;
  operation here_;  // a node that asks for no device, so that its place is the session's own task
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/chief_sign.ipp>
#endif
