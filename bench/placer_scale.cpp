// What placing and cutting cost as graphs grow, beside one plain topological walk of the same graph; and memory.
//
//   bench_placer_scale [NODES]     the largest graph, a million nodes unless given
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <fmt/format.h>

#include <pinion/placement/cost/cost_placer.hpp>
#include <pinion/placement/cost/sim_machine.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/step/partition.hpp>

#include "planning_graphs.hpp"

// Bytes that are allocated, and the most there were.
static std::size_t held = 0, most_held = 0;
void* operator new(std::size_t size) {
  void* p = std::malloc(size);
  if (!p) throw std::bad_alloc();
  most_held = std::max(most_held, held += malloc_usable_size(p));
  return p;
}
void operator delete(void* p) noexcept {
  held -= malloc_usable_size(p);
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  operator delete(p);
}

namespace {

namespace pn = pinion;

template <class F>
double seconds(F&& body) {
  const auto began = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// Kahn's algorithm: how many consumers each node has, where they are, and a queue of those whose inputs are done.
std::size_t walk(pn::graph_view g) {
  const auto n = static_cast<std::size_t>(g.size());
  std::vector<int> waiting(n, 0);
  std::vector<std::size_t> begin(n + 1, 0);
  for (pn::node_id id = 0; id < g.size(); ++id)
    for (const auto& in : g[id].inputs) {
      ++begin[static_cast<std::size_t>(in.node) + 1];
      ++waiting[static_cast<std::size_t>(id)];
    }
  for (std::size_t i = 0; i < n; ++i) begin[i + 1] += begin[i];
  std::vector<pn::node_id> consumers(begin[n]);
  auto next = begin;
  for (pn::node_id id = 0; id < g.size(); ++id)
    for (const auto& in : g[id].inputs) consumers[next[static_cast<std::size_t>(in.node)]++] = id;
  std::vector<pn::node_id> queue;
  for (std::size_t i = 0; i < n; ++i)
    if (waiting[i] == 0) queue.push_back(static_cast<pn::node_id>(i));
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const auto i = static_cast<std::size_t>(queue[at]);
    for (std::size_t k = begin[i]; k < begin[i + 1]; ++k)
      if (--waiting[static_cast<std::size_t>(consumers[k])] == 0) queue.push_back(consumers[k]);
  }
  return queue.size();
}

// Nodes of two inputs among the 64 before them, in runs, each run on a task; every tenth run leaves the task open.
void build(pn::graph& g, std::vector<pn::node_id>& nodes, std::int64_t count, int tasks) {
  std::mt19937 random(3);
  const std::int64_t run = std::max<std::int64_t>(64, count / tasks);
  for (std::int64_t i = 0; i < count; ++i) {
    pn::node n;
    n.name = "n" + std::to_string(i);
    n.op = "Work";
    n.attrs.set("work", 1e5 + static_cast<double>(random() % 100000));
    for (int k = 0; k < 2 && i > 0; ++k)
      n.inputs.push_back(
          {static_cast<pn::node_id>(i - 1 - static_cast<std::int64_t>(random()) % std::min<std::int64_t>(i, 64)), 0});
    if (n.inputs.size() == 2 && n.inputs[0] == n.inputs[1]) n.inputs.pop_back();
    n.outputs.push_back({pn::dtype::float32, pn::shape{256}});
    if (i == 0) n.outputs.push_back({pn::dtype::float32, pn::shape{}});
    if (i / run % 10 != 0)
      n.requested = pn::device_spec{}.with_job("worker").with_task(static_cast<int>(i / run % tasks));
    g.adopt(std::move(n));
    nodes.push_back(static_cast<pn::node_id>(i));
  }
}

// The least of several runs, fewer for large graphs.
template <class F>
double least(std::int64_t nodes, F&& body) {
  double best = 1e9;
  for (int k = nodes >= 500000 ? 2 : nodes >= 50000 ? 5 : 20; k > 0; --k) best = std::min(best, seconds(body));
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t most = argc > 1 ? std::atoll(argv[1]) : 1000000;
  constexpr int tasks = 1000;
  const bench::planning_ops ops;
  pn::sim::machine m;
  for (int t = 0; t < tasks; ++t)
    m.add("/job:worker/task:" + std::to_string(t), {.type = "CPU"}).add("/job:worker/task:" + std::to_string(t), {});
  fmt::print("{} tasks with a CPU and a GPU each; times beside one topological walk\n", tasks);
  fmt::print("{:>9} {:>10} {:>8} {:>10} {:>8} {:>12} {:>12} {:>11}\n", "nodes", "walk", "simple", "partition", "cost",
             "B/node simple", "B/node part", "B/node cost");
  for (std::int64_t count = 1000; count <= most; count *= 10) {
    pn::graph g;
    std::vector<pn::node_id> nodes;
    build(g, nodes, count, tasks);
    const pn::placement_problem p{.graph = g, .nodes = nodes, .devices = m.devices(), .ops = ops};
    std::size_t seen = 0;
    const double walked = least(count, [&] { seen += walk(g); });
    if (seen == 0) return 1;
    // The most bytes a node that it takes while it runs.
    const auto memory = [&](auto&& body) {
      const std::size_t before = most_held = held;
      body();
      return static_cast<double>(most_held - before) / static_cast<double>(count);
    };
    pn::placement placed;
    const pn::runtime::step_signature all{{}, {}, {nodes.back()}};
    const auto place = [&] { placed = pn::simple_placer{}(p); };
    const auto think = [&] { pn::cost_placer{m.costs(), 0}(p); };
    const auto part = [&] { pn::runtime::cut_by_device(g, placed, all, 0); };
    const double simple_memory = memory(place), simple = least(count, place) / walked;
    const double part_memory = memory(part), cut = least(count, part) / walked;
    const double cost_memory = memory(think), cost = least(count, think) / walked;
    fmt::print("{:>9} {:>7.2f} ms {:>7.1f}x {:>9.1f}x {:>7.1f}x {:>12.0f} {:>12.0f} {:>11.0f}\n", count, walked * 1e3,
               simple, cut, cost, simple_memory, part_memory, cost_memory);
  }
}
