// What a monitored session needs of a graph to begin with.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/source/spelling.hpp>
#include <pinion/op/variable/spelling.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/checkpoint/saver.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Operations that begin a session. Those that are empty are taken from the graph's collection of that name, or made,
// when the graph is finalized. A value. Rules: TensorFlow 1.15, monitored_session.py, Scaffold.
struct scaffold {
  operation init_op = {};                      // empty: initialises all global variables
  std::vector<feed> init_feeds = {};           // for it
  std::function<void(session&)> init_fn = {};  // runs behind it
  // The local variables are initialised once this succeeds; while it fails with failed_precondition, a worker waits.
  operation ready_for_local_init_op = {};            // empty: reads all global variables
  operation local_init_op = {};                      // empty: initialises the local variables
  operation ready_op = {};                           // what succeeds in the end. Empty: reads all variables
  std::shared_ptr<pinion::train::saver> saver = {};  // empty: one of all global variables
  expr<std::string> summary_op = {};                 // empty: all summaries of the graph

  // Completes it, in the default graph. Throws invalid_argument where a collection has more than one to take.
  void finalize(source_location where = source_location::current());

 private:
  template <class Make>
  static void complete(operation& op, graph& g, const std::string& collection, const Make& make) {
    if (!op.empty()) return;
    const auto& known = g.collection(collection);
    if (known.size() > 1)
      throw error(errc::invalid_argument, "the collection '" + collection + "' has " + std::to_string(known.size()) +
                                              " operations; a scaffold takes the one that is there");
    op = known.empty() ? make() : operation(g, known[0]);
  }
  static operation group_of(graph& g, const std::string& name, const std::vector<node_id>& all);
  // Fails with failed_precondition while one of them is not initialised. Their values go nowhere.
  static operation reads_of(graph& g, const std::string& name, const std::vector<std::string>& collections);
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/scaffold.ipp>
#endif
