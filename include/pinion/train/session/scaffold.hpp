// The operations by which a monitored session makes the variables of a graph ready.
//
//   tr::scaffold s;
//   s.init_fn = [&](pn::session& on) { pretrained.restore(on, "base/model-5"); };
//   tr::monitored_training_session sess{{.scaffold = s}};
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/checkpoint/saver.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The operations that begin a session. When the graph is finalized, each empty one is taken from the graph's collection
// of that name, or made. A value; it refers to the graph and shares its saver. Rules: TensorFlow 1.15,
// monitored_session.py, Scaffold. Most programs need none: give a member only where the default does not do.
struct scaffold {
  // Initialises the global variables; empty: all of them.
  operation init_op = {};
  // Fed to init_op.
  std::vector<feed> init_feeds = {};
  // Called with the session after init_op: where the variables are initialised, not where a whole checkpoint is
  // restored.
  std::function<void(session&)> init_fn = {};
  // Succeeds once the local variables may be initialised: while it fails with failed_precondition, a worker waits.
  // Empty: reads all global variables.
  operation ready_for_local_init_op = {};
  // Initialises the local variables; empty: all of them.
  operation local_init_op = {};
  // Succeeds once everything is ready; empty: reads all variables.
  operation ready_op = {};
  // Saves and restores; empty: a saver of all global variables.
  std::shared_ptr<pinion::train::saver> saver = {};
  // How a checkpoint is restored. With {.partial = true}, and where none has all variables, the newest that has the
  // global step is restored whatever else it lacks, as where a model has got a layer more; init_op and init_fn come
  // before that, and the variables that it lacks keep their values. The next save has all variables, and replaces a
  // checkpoint of the same step. Variables that a saver given above does not have begin anew, the global step too
  // where it has not that.
  restore_options restoring = {};
  // Fetched by the summary hook; empty: all summaries of the graph.
  expr<std::string> summary_op = {};

  // Completes the scaffold from the default graph. Throws invalid_argument if a collection has more than one
  // operation.
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
  // An operation that runs some nodes.
  static operation group_of(graph& g, const std::string& name, const std::vector<node_id>& all);
  // An operation that fails with failed_precondition while a variable of these collections is not initialised. The
  // values that it reads are dropped.
  static operation reads_of(graph& g, const std::string& name, const std::vector<std::string>& collections);
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/scaffold.ipp>
#endif
