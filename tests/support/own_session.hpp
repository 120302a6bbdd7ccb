// A graph and a session of a test's own.
#pragma once

#include <pinion/session.hpp>

#include "own_graph.hpp"

struct own_session : own_graph {
  pinion::session sess;
};
