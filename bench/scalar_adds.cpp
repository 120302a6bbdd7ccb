// What a node costs that does next to nothing: x + 1 of a float, many times in a row, in a prepared step without
// passes; beside the same additions as tasks that are started by atomic counters (counted_graph.hpp).
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pinion/session.hpp>

#include "contest.hpp"
#include "counted_graph.hpp"

namespace {

namespace pn = pinion;

std::function<void()> in_pinion(pn::session& sess, const pn::expr<float>& x, int count) {
  pn::expr<float> y = x;
  for (int i = 0; i < count; ++i) y = y + 1.0f;
  auto step = sess.make_callable(pn::feeds(x), pn::fetches(y));
  return [step]() mutable { step(1.0f); };
}

std::function<void()> by_hand(int count) {
  const auto values = std::make_shared<std::vector<float>>(count + 1);
  bench::task_inputs inputs(static_cast<std::size_t>(count));
  std::vector<std::function<void()>> bodies;
  for (int i = 0; i < count; ++i) {
    if (i > 0) inputs[static_cast<std::size_t>(i)].push_back(i - 1);
    float* const x = values->data() + i;
    bodies.push_back([x] { x[1] = x[0] + 1; });
  }
  const auto graph = std::make_shared<bench::counted_graph>(inputs, std::move(bodies));
  return [values, graph] {
    values->front() = 1;
    graph->run();
  };
}

}  // namespace

int main() {
  pn::graph g;
  const auto use = g.as_default();
  const pn::expr<float> x = pn::placeholder<float>({}, "x");
  pn::session sess{{.inter_op_threads = 1, .intra_op_threads = 1, .optimize = false}};
  bench::contest c;
  std::vector<int> ours, hand;
  const std::vector<int> counts{1, 10, 100, 1000};
  for (const int n : counts) {
    ours.push_back(c.add("pinion, 1 thread", bench::thread_seconds, in_pinion(sess, x, n)));
    hand.push_back(c.add("atomic counters by hand", bench::thread_seconds, by_hand(n)));
  }
  c.run();
  // A node may take three times as long as a task, and a call 100 ns, of which a node bears its part.
  const double call_goal = 100e-9;
  for (std::size_t i = 0; i < counts.size(); ++i)
    c.row("x + 1, a node of " + std::to_string(counts[i]), ours[i], hand[i],
          bench::at_most(3 + call_goal / c.seconds(hand[i])), counts[i]);
  const double node = (c.seconds(ours[3]) - c.seconds(ours[2])) / (counts[3] - counts[2]);
  const double call = c.seconds(ours[0]) - node;
  bench::print_row("fixed cost of a call", "pinion, 1 thread", "its goal", bench::in_words(call),
                   bench::in_words(call_goal), call / call_goal, bench::at_most(1));
}
