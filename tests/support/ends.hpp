// What a handle names in its own graph, for tests that look nodes up by their numbers.
#pragma once

#include <pinion/dsl/expr.hpp>
#include <pinion/op/variable/variable.hpp>

inline pinion::node_id id_of(const pinion::operation& o) {
  return o.id(o.owner());
}
inline pinion::output end_of(const pinion::any_expr& e) {
  return e.endpoint(e.owner());
}
inline pinion::output state_of(const pinion::any_variable& v) {
  return v.reference(v.owner());
}
inline pinion::node_id read_of(const pinion::any_variable& v) {
  return v.read_id(v.owner());
}
