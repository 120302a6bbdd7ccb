// The part of a plan that runs interpreted.
#pragma once

#include <string>

#include <pinion/placement/plan/plan.hpp>

// The nodes of a plan that are interpreted, with their ops; "" where there are none.
inline std::string interpreted_in(const pinion::plan& p) {
  std::string names;
  for (const pinion::placed_node& n : p.nodes())
    if (n.kernel == "interpreted") names += n.name + " (" + n.op + ") ";
  return names;
}
