// What runs first: data edges order by themselves; control_dependencies order effects.
//
//   counter ── add 1 ··> read ── after          ··> is a control edge
//                    ··> add limit ── twice
//
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  auto counter = pn::variable(0, {.name = "counter", .trainable = false});
  auto limit = pn::variable(3, {.name = "limit", .trainable = false});
  auto up = pn::assign_add(counter, 1);
  pn::expr<int> after, twice;
  {
    pn::control_dependencies then(up);
    after = counter.read();  // a read of its own, which sees the effect
    twice = pn::assign_add(counter, limit);
  }
  auto both = pn::group(up, twice);

  pn::session sess;
  sess.run(pn::global_variables_initializer());
  fmt::print("fetch the sum:          {}\n", int(sess.run(up)));
  fmt::print("fetch a read after it:  {}\n", int(sess.run(after)));
  fmt::print("fetch the second sum:   {}\n", int(sess.run(twice)));
  sess.run(both);
  fmt::print("after a group of both:  {}\n", int(sess.run(counter)));
  for (auto id : after.node().control_inputs) fmt::print("{} runs after {}\n", after.name(), after.owner()[id].name);
}
