// What a monitored session needs of a graph to begin with.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <pinion/dsl/sources.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/saver.hpp>

namespace pinion::inline v0::train {

// Operations that begin a session; those that are empty are made when the graph is finalized. A value.
struct scaffold {
  operation init_op = {};                            // empty: initialises all global variables
  std::vector<feed> init_feeds = {};                 // for it
  std::function<void(session&)> init_fn = {};        // runs behind it
  operation local_init_op = {};                      // empty: initialises the local variables
  operation ready_op = {};                           // empty: reads all global variables
  std::shared_ptr<pinion::train::saver> saver = {};  // empty: one of all global variables
  expr<std::string> summary_op = {};                 // empty: all summaries of the graph

  // Makes what is empty, in the default graph.
  void finalize() {
    graph& g = default_graph();
    if (init_op.empty()) init_op = all_of(g, "initializers", "init");
    if (local_init_op.empty()) local_init_op = all_of(g, "local_initializers", "init_local");
    if (ready_op.empty()) ready_op = all_reads(g);
    if (!saver) saver = std::make_shared<pinion::train::saver>();
  }

 private:
  static operation all_of(graph& g, const std::string& collection, const std::string& name) {
    node_request r{.op = op::no_op::name, .base_name = name};
    r.control_inputs = g.collection(collection);
    return {g, build(g, std::move(r))};
  }
  // Fails with failed_precondition while one of them is not initialised. Their values go nowhere.
  static operation all_reads(graph& g) {
    node_request r{.op = op::no_op::name, .base_name = "report_uninitialized_variables"};
    for (const node_id v : g.collection("variables")) r.control_inputs.push_back(g.id_of(g[v].name + "/read"));
    return {g, build(g, std::move(r))};
  }
};

}  // namespace pinion::inline v0::train
