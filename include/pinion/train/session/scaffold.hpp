// What a monitored session needs of a graph to begin with.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/dsl/sources.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/checkpoint/saver.hpp>

namespace pinion::inline v0::train {

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
  void finalize(source_location where = source_location::current()) {
    const called_from line(where);
    graph& g = default_graph();
    complete(init_op, g, "init_op", [&] { return group_of(g, "init", g.collection("initializers")); });
    complete(local_init_op, g, "local_init_op",
             [&] { return group_of(g, "init_local", g.collection("local_initializers")); });
    complete(ready_for_local_init_op, g, "ready_for_local_init_op",
             [&] { return reads_of(g, "report_uninitialized_variables", {"variables"}); });
    complete(ready_op, g, "ready_op", [&] {
      return reads_of(g, "report_uninitialized_variables", {"variables", "local_variables"});
    });
    if (!saver) saver = std::make_shared<pinion::train::saver>();
  }

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
  static operation group_of(graph& g, const std::string& name, const std::vector<node_id>& all) {
    return {g, build(g, {.op = op::no_op::name, .base_name = name, .control_inputs = all})};
  }
  // Fails with failed_precondition while one of them is not initialised. Their values go nowhere.
  static operation reads_of(graph& g, const std::string& name, const std::vector<std::string>& collections) {
    std::vector<node_id> reads;
    for (const std::string& c : collections)
      for (const node_id v : g.collection(c)) reads.push_back(g.id_of(g[v].name + "/read"));
    return group_of(g, name, reads);
  }
};

}  // namespace pinion::inline v0::train
