// expect: a guard counts while it lives, and this one is gone at once: give it a name
// A guard that is a temporary asks nobody for anything. That is a warning, of any flags; here it counts as an error.
#include <pinion/graph.hpp>

#pragma GCC diagnostic error "-Wunused-result"
#pragma GCC diagnostic error "-Wunused-value"
#ifdef ACCEPT
#define NAMED(guard)         \
  const auto& named = guard; \
  (void)named
#else
#define NAMED(guard) guard
#endif

void on_a_string() {
  NAMED(pinion::device("/gpu:0"));
}
void on_a_policy() {
  NAMED(pinion::device([](const pinion::node_view&) { return "/cpu:0"; }));
}
void under_a_name() {
  NAMED(pinion::name_scope("layer"));
}
void in_a_container() {
  NAMED(pinion::container("box"));
}
void after(const pinion::operation& op) {
  NAMED(pinion::control_dependencies{op});
}
void near(const pinion::operation& op) {
  NAMED(pinion::colocate_with{op});
}
void in_a_graph(pinion::graph& g) {
  NAMED(g.as_default());
}
