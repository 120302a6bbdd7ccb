// Where the nodes and guards that a call makes stand: at the line of the call, for tests of public functions.
#pragma once

#include <catch2/catch.hpp>

#include <string>

#include <pinion/graph.hpp>
#include <pinion/op/control/bodies.hpp>

#include "own_graph.hpp"

// The nodes of a graph from an id on that stand elsewhere than at a line of a file (0: any), as text. Gradients stand
// where their forward node does, so of these, too, and of what a body takes from outside, any line of the file will do.
inline std::string elsewhere(pinion::graph_view g, pinion::node_id from, pinion::source_location at) {
  std::string all;
  for (pinion::node_id id = from; id < g.size(); ++id) {
    if (!g.contains(id)) continue;
    const pinion::node& n = g[id];
    const bool gradient = n.name.rfind("gradients", 0) == 0;
    if (std::string(n.where.file) != at.file || (at.line != 0 && !gradient && n.where.line != at.line))
      all += n.name + " (" + n.op + ") at " + to_string(n.where) + "\n";
    pinion::op::any_body(n, [&](const pinion::body& b) { return all += elsewhere(b.view(), 0, {at.file, 0}), false; });
  }
  return all;
}

// A graph in use, beside which calls are made.
struct lined_graph : own_graph {
  // What a call makes stands at its line, and it makes something.
  template <class Call>
  void here(Call call, pinion::source_location where = pinion::source_location::current()) {
    const pinion::node_id first = g.size();
    call();
    INFO("line " << where.line);
    CHECK(g.size() > first);
    CHECK(elsewhere(g, first, where) == "");
    for (const auto& guard : g.guards()) CHECK(std::string(guard->where.file) == where.file);
  }
};
