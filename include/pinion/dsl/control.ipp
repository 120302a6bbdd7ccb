// Bodies of <pinion/dsl/control.hpp>.
#pragma once

#include <pinion/dsl/control.hpp>

namespace pinion::inline v0::dsl {

PINION_DECL std::vector<output> share_arguments(traced_body& a, traced_body& b) {
  std::vector<output> outside;
  const auto add = [&](const traced_body& t) {
    for (const auto& d : t.drawn)
      if (const output_type& type = t.made->graph.type_of(d.inside);
          !type.reference && !type.resource && std::find(outside.begin(), outside.end(), d.outside) == outside.end())
        outside.push_back(d.outside);
  };
  add(a);
  add(b);
  for (traced_body* t : {&a, &b})
    for (const output& o : outside) {
      const auto same = [&](const body_trace::drawn& d) { return d.outside == o; };
      const auto mine = std::find_if(t->drawn.begin(), t->drawn.end(), same);
      if (mine != t->drawn.end()) {
        t->made->arguments.push_back(mine->inside);
        continue;
      }
      const traced_body& other = t == &a ? b : a;
      const auto theirs = std::find_if(other.drawn.begin(), other.drawn.end(), same);
      op::add_argument(*t->made, other.made->graph.type_of(theirs->inside), "unused");
    }
  return outside;
}

}  // namespace pinion::inline v0::dsl
