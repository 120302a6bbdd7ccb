// A graph and a session of a test's own.
#pragma once

#include <pinion/session.hpp>

struct own_session {
  pinion::graph g;
  pinion::default_scope use = g.as_default();
  pinion::session sess;
};
