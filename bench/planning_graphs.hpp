// Graphs to plan: of made-up ops whose cost is an attribute, in the shapes that schedulers are tried on.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <pinion/graph/graph.hpp>
#include <pinion/placement/problem.hpp>

namespace bench {

// One op, "Work", with kernels on CPU and GPU; its attribute "work" says how many operations it takes.
class planning_ops final : public pinion::op_knowledge {
 public:
  const pinion::op_facts& facts(const pinion::node&) const override { return facts_; }
  double work(const pinion::node& n, const pinion::work_context&) const override { return n.attrs.get<double>("work"); }

 private:
  pinion::op_facts facts_{.kernels = {{"CPU"}, {"GPU"}}, .handles = 0};
};

// Work in seconds of a device of a million operations a second, edges in bytes.
class planning_graph {
 public:
  static constexpr double speed = 1e6;

  int add(double seconds, std::vector<int> inputs, std::int64_t bytes) {
    pinion::node n;
    n.name = "n" + std::to_string(graph_.size());
    n.op = "Work";
    n.attrs.set("work", seconds * speed);
    for (const int i : inputs) n.inputs.push_back({i, 0});
    // A source makes two outputs, so that it is work like any other and not a constant.
    n.outputs.push_back({pinion::dtype::uint8, pinion::shape{bytes}});
    if (inputs.empty()) n.outputs.push_back({pinion::dtype::uint8, pinion::shape{0}});
    graph_.adopt(std::move(n));
    nodes_.push_back(graph_.size() - 1);
    return graph_.size() - 1;
  }
  pinion::graph_view graph() const { return pinion::graph_view::of_settled(graph_); }
  const std::vector<pinion::node_id>& nodes() const { return nodes_; }

 private:
  pinion::graph graph_;
  std::vector<pinion::node_id> nodes_;
};

}  // namespace bench
