// expect: a guard takes a device string, a spec, nullptr, or a placement policy
// What a guard cannot ask is refused with what it could.
#include <pinion/graph.hpp>

#ifdef ACCEPT
pinion::device made() {
  return pinion::device{[](const pinion::node_view&) { return "/cpu:0"; }};
}
#else
pinion::device made() {
  return pinion::device{[](int) { return "/cpu:0"; }};
}
#endif
