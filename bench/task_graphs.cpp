// What dispatch costs: graphs of 100 000 tasks that add 1 to a float, in the shapes that schedulers are tried on,
// beside Taskflow, where its headers are in TASKFLOW_DIR, and beside atomic counters by hand.
//
// The first input of a task is the value that it adds to; the others it only waits for.
#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <pinion/opkit/build.hpp>
#include <pinion/session.hpp>

#include "contest.hpp"
#include "counted_graph.hpp"

#if BENCH_HAS_TASKFLOW
#include <taskflow/taskflow.hpp>
#endif

namespace {

namespace pn = pinion;
using bench::task_inputs;

// Lets a last task wait for those that nothing waits for.
task_inputs closed(task_inputs inputs) {
  std::vector<bool> read(inputs.size());
  for (const auto& each : inputs)
    for (const int from : each) read[static_cast<std::size_t>(from)] = true;
  std::vector<int> ends;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!read[i]) ends.push_back(static_cast<int>(i));
  if (ends.size() > 1) inputs.push_back(std::move(ends));
  return inputs;
}

task_inputs chain(int n) {
  task_inputs all(static_cast<std::size_t>(n));
  for (int i = 1; i < n; ++i) all[static_cast<std::size_t>(i)] = {i - 1};
  return closed(all);
}
task_inputs fan_out(int n) {
  task_inputs all(static_cast<std::size_t>(n), {0});
  all[0].clear();
  return closed(all);
}
task_inputs tree(int n) {
  task_inputs all(static_cast<std::size_t>(n));
  for (int i = 1; i < n; ++i) all[static_cast<std::size_t>(i)] = {(i - 1) / 2};
  return closed(all);
}
// Three inputs a task, among the 1000 before it.
task_inputs random_graph(int n) {
  std::mt19937 bits(1);
  task_inputs all(static_cast<std::size_t>(n));
  for (int i = 1; i < n; ++i) {
    auto& mine = all[static_cast<std::size_t>(i)];
    for (int k = 0; k < 3; ++k)
      mine.push_back(i - 1 - static_cast<int>(bits() % static_cast<unsigned>(std::min(i, 1000))));
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  }
  return closed(all);
}

// The body of a task, over one float a task.
std::function<void()> addition(std::vector<float>& values, const std::vector<int>& inputs, std::size_t task) {
  float* const to = &values[task];
  const float* const from = inputs.empty() ? to : &values[static_cast<std::size_t>(inputs[0])];
  return [from, to] { *to = *from + 1; };
}

// ---- pinion

struct graph_of_nodes {
  pn::graph g;
  pn::expr<float> x;
  pn::operation last;

  explicit graph_of_nodes(const task_inputs& inputs) {
    const auto use = g.as_default();
    x = pn::placeholder<float>({}, "x");
    std::vector<pn::expr<float>> made;
    for (const auto& mine : inputs) {
      if (mine.size() > 3) {  // the last one
        last = only_waits(made, mine);
        break;
      }
      made.push_back(adds(made, mine));
      last = made.back();
    }
  }

 private:
  pn::expr<float> adds(const std::vector<pn::expr<float>>& made, const std::vector<int>& inputs) const {
    if (inputs.empty()) return x + 1.0f;
    const auto& first = made[static_cast<std::size_t>(inputs[0])];
    std::vector<std::unique_ptr<pn::control_dependencies>> after;
    for (std::size_t i = 1; i < inputs.size(); ++i)
      after.push_back(
          std::make_unique<pn::control_dependencies>(pn::operation(made[static_cast<std::size_t>(inputs[i])])));
    pn::expr<float> sum = first + 1.0f;
    while (!after.empty()) after.pop_back();
    return sum;
  }
  pn::operation only_waits(const std::vector<pn::expr<float>>& made, const std::vector<int>& inputs) {
    pn::node_request request{.op = "NoOp", .base_name = "last"};
    for (const int i : inputs) request.control_inputs.push_back(made[static_cast<std::size_t>(i)].id(g));
    return {g, pn::build(g, std::move(request))};
  }
};

// Says what it takes to make the step ready.
std::function<void()> in_pinion(const std::string& work, graph_of_nodes& nodes, pn::session& sess, double tasks) {
  const double start = bench::wall_seconds();
  auto step = sess.make_callable(pn::feeds(nodes.x), pn::fetches(), pn::targets(nodes.last));
  step(1.0f);
  const double seconds = bench::wall_seconds() - start, goal = tasks * 1e-5;
  bench::print_row(work, "pinion, until its first step has run", "its goal", bench::in_words(seconds),
                   bench::in_words(goal), seconds / goal, bench::at_most(1));
  return [step]() mutable { step(1.0f); };
}

// ---- Taskflow

#if BENCH_HAS_TASKFLOW
struct flow {
  tf::Taskflow tasks;
  std::vector<float> values;

  explicit flow(const task_inputs& inputs) : values(inputs.size()) {
    std::vector<tf::Task> made;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      made.push_back(tasks.emplace(addition(values, inputs[i], i)));
      for (const int from : inputs[i]) made[static_cast<std::size_t>(from)].precede(made.back());
    }
  }
};
#endif

void measure(const std::string& work, const task_inputs& inputs) {
  const auto tasks = static_cast<double>(inputs.size());
  graph_of_nodes nodes(inputs);
  pn::session one{{.graph = &nodes.g, .inter_op_threads = 1, .intra_op_threads = 1, .optimize = false}};
  std::vector<float> values(inputs.size());
  std::vector<std::function<void()>> bodies;
  for (std::size_t i = 0; i < inputs.size(); ++i) bodies.push_back(addition(values, inputs[i], i));
  bench::counted_graph counted(inputs, std::move(bodies));

  bench::contest one_thread;
  const auto now = bench::process_seconds;  // a worker of Taskflow is a thread of its own
  const int ours = one_thread.add("pinion, 1 thread", now, in_pinion(work, nodes, one, tasks));
  const int hand = one_thread.add("atomic counters by hand", now, [&] { counted.run(); });
#if BENCH_HAS_TASKFLOW
  bench::contest two_threads;
  const auto wall = bench::wall_seconds;
  flow f(inputs);
  tf::Executor worker(1), workers(2);
  pn::session two{{.graph = &nodes.g, .inter_op_threads = 2, .intra_op_threads = 1, .optimize = false}};
  const int ours_two = two_threads.add("pinion, 2 threads", wall, in_pinion(work, nodes, two, tasks));
  const int theirs = one_thread.add("Taskflow, 1 thread", now, [&] { worker.run(f.tasks).wait(); });
  const int theirs_two = two_threads.add("Taskflow, 2 threads", wall, [&] { workers.run(f.tasks).wait(); });
  one_thread.run(9);
  two_threads.run(9);
  one_thread.row(work, ours, theirs, bench::at_most(.35), tasks);
  two_threads.row(work, ours_two, theirs_two, bench::at_most(.7), tasks);
#else
  one_thread.run(9);
  bench::print_missing("Taskflow", "its headers were not in TASKFLOW_DIR when this was compiled");
#endif
  one_thread.row(work, ours, hand, bench::at_most(3), tasks);
}

}  // namespace

int main() {
  const int n = bench::quick() ? 10'000 : 100'000;
  const std::string size = ", a task of " + std::to_string(n);
  measure("chain" + size, chain(n));
  measure("fan-out" + size, fan_out(n));
  measure("tree" + size, tree(n));
  measure("random graph" + size, random_graph(n));
}
