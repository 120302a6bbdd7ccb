// A graph of a test's own.
#pragma once

#include <pinion/graph.hpp>

// The default of its thread while it is there.
struct own_graph {
  pinion::graph g;
  pinion::default_scope use = g.as_default();
};
