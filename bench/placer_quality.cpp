// How good placements are: on small random graphs beside the best there is, on shapes from practice beside plain rules.
//
//   bench_placer_quality [GRAPHS]     random graphs of each kind, 300 unless given
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include <pinion/graph.hpp>
#include <pinion/graph/traverse.hpp>
#include <pinion/placement/cost/cost_placer.hpp>
#include <pinion/placement/cost/earliest_finish.hpp>
#include <pinion/placement/cost/heft_placer.hpp>
#include <pinion/placement/cost/plain_placers.hpp>
#include <pinion/placement/cost/sim_machine.hpp>
#include <pinion/placement/cost/simulate.hpp>
#include <pinion/train.hpp>

#include "planning_graphs.hpp"

namespace {

namespace pn = pinion;
using pn::placement_problem;

double makespan(const placement_problem& p, const pn::cost_model& costs, const pn::placement& placed) {
  const pn::placing work(p);
  const pn::step_costs step(p, work.groups(), costs);
  std::vector<std::int32_t> device;
  for (std::size_t i = 0; i < p.nodes.size(); ++i) device.push_back(placed.device_index(i));
  return pn::makespan_simulator(step)(device);
}

// Every assignment of nodes to devices, simulated.
double best_of_all(const placement_problem& p, const pn::cost_model& costs) {
  const pn::placing work(p);
  const pn::step_costs step(p, work.groups(), costs);
  pn::makespan_simulator simulate(step);
  std::vector<std::int32_t> device(p.nodes.size(), 0);
  double best = std::numeric_limits<double>::infinity();
  for (;;) {
    best = std::min(best, simulate(device));
    std::size_t i = 0;
    while (i < device.size() && ++device[i] == static_cast<int>(p.devices.size())) device[i++] = 0;
    if (i == device.size()) return best;
  }
}

// Each node reads from one to three of the five before it; work and bytes vary by a factor of ten. `ratio` is that of a
// mean transfer to a mean node.
void random_graph(bench::planning_graph& g, std::mt19937& random, int nodes, double ratio) {
  const auto vary = [&](double mean) { return mean * std::uniform_real_distribution<>(.18, 1.82)(random); };
  for (int i = 0; i < nodes; ++i) {
    std::vector<int> inputs;
    for (int k = std::uniform_int_distribution<>(i == 0 ? 0 : 1, 3)(random); i > 0 && k > 0; --k) {
      const int from = std::uniform_int_distribution<>(std::max(0, i - 5), i - 1)(random);
      if (std::find(inputs.begin(), inputs.end(), from) == inputs.end()) inputs.push_back(from);
    }
    g.add(vary(1), inputs, static_cast<std::int64_t>(vary(ratio * 1e6)));
  }
}

pn::sim::machine random_machine(std::mt19937& random, int devices) {
  pn::sim::machine m({1e6, 0}, {1e6, 0});
  for (int d = 0; d < devices; ++d)
    m.add("/job:worker/task:0",
          {.flops = bench::planning_graph::speed * std::uniform_real_distribution<>(.5, 2)(random),
           .memory_bandwidth = 1e18,
           .launch = 1e-9});
  return m;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

void small_graphs(int graphs) {
  fmt::print("makespan over the best of all placements: {} random graphs of 3-8 nodes a row\n", graphs);
  fmt::print("{:>8} {:>15}   {:<14} {:>7} {:>7} {:>7}\n", "devices", "transfer/work", "placer", "median", "90 %",
             "worst");
  const bench::planning_ops ops;
  for (const int devices : {2, 3})
    for (const double ratio : {.1, 1., 10.}) {
      std::vector<std::vector<double>> ratios(4);
      std::mt19937 random(7);
      for (int k = 0; k < graphs; ++k) {
        bench::planning_graph g;
        random_graph(g, random, 3 + k % 6, ratio);
        const auto m = random_machine(random, devices);
        const placement_problem p{.graph = g.graph(), .nodes = g.nodes(), .devices = m.devices(), .ops = ops};
        const double best = best_of_all(p, m.costs());
        const pn::placement placed[] = {pn::cost_placer{m.costs()}(p), pn::cost_placer{m.costs(), 0}(p),
                                        pn::heft_placer{m.costs()}(p), pn::simple_placer{}(p)};
        for (std::size_t i = 0; i < 4; ++i) ratios[i].push_back(makespan(p, m.costs(), placed[i]) / best);
      }
      const char* names[] = {"cost", "white paper", "HEFT", "simple"};
      for (std::size_t i = 0; i < 4; ++i)
        fmt::print("{:>8} {:>15}   {:<14} {:>7.3f} {:>7.3f} {:>7.3f}\n", devices, ratio, names[i],
                   quantile(ratios[i], .5), quantile(ratios[i], .9), quantile(ratios[i], 1));
    }
}

struct stage {
  std::string name;
  std::function<void(const std::function<void(const placement_problem&)>&, const std::vector<pn::device_info>&)> build;
};

// Made of planning ops.
stage shape(std::string name, std::function<void(bench::planning_graph&, std::mt19937&)> make) {
  return {std::move(name), [make](const auto& use, const auto& devices) {
            static const bench::planning_ops ops;
            bench::planning_graph g;
            std::mt19937 random(11);
            make(g, random);
            use({.graph = g.graph(), .nodes = g.nodes(), .devices = devices, .ops = ops});
          }};
}

// A model of the library's own ops; `make` returns what a step runs.
stage model(std::string name, std::function<pn::operation()> make) {
  return {std::move(name), [make](const auto& use, const auto& devices) {
            pn::graph g;
            const auto here = g.as_default();
            const pn::operation step = make();
            use({.graph = g, .nodes = pn::ancestors(g, {}, {step.id(g)}), .devices = devices});
          }};
}

pn::expr<float> tower(pn::expr<float> x, int layers, int width, const std::string& name) {
  for (int l = 0; l < layers; ++l) {
    auto W = pn::variable(pn::truncated_normal<float>({l == 0 ? 512 : width, width}), {.name = name + "_W"});
    auto b = pn::variable(pn::zeros<float>({width}), {.name = name + "_b"});
    x = pn::elu(pn::matmul(x, W) + b);
  }
  return x;
}

std::vector<stage> stages() {
  namespace tr = pn::train;
  std::vector<stage> all;
  all.push_back(shape("chain of 32", [](auto& g, auto&) {
    int last = g.add(1, {}, 1000000);
    for (int i = 1; i < 32; ++i) last = g.add(1, {last}, 1000000);
  }));
  all.push_back(shape("fan-out of 32", [](auto& g, auto&) {
    const int root = g.add(1, {}, 200000);
    std::vector<int> leaves;
    for (int i = 0; i < 32; ++i) leaves.push_back(g.add(1 + i % 4, {root}, 200000));
    g.add(1, leaves, 1);
  }));
  all.push_back(shape("layers, 8 x 8", [](auto& g, auto& random) {
    std::vector<int> before;
    for (int l = 0; l < 8; ++l) {
      std::vector<int> layer;
      for (int i = 0; i < 8; ++i) {
        std::vector<int> inputs;
        for (int k = 0; k < 2 && !before.empty(); ++k) {
          const int from = before[random() % before.size()];
          if (std::find(inputs.begin(), inputs.end(), from) == inputs.end()) inputs.push_back(from);
        }
        layer.push_back(g.add(.5 + .1 * static_cast<double>(random() % 10), inputs, 500000));
      }
      before = layer;
    }
  }));
  all.push_back(shape("pipeline, 4 x 8", [](auto& g, auto&) {
    std::vector<int> row(4, -1);
    for (int batch = 0; batch < 8; ++batch)
      for (int s = 0; s < 4; ++s) {
        std::vector<int> inputs;
        if (s > 0) inputs.push_back(row[static_cast<std::size_t>(s - 1)]);
        if (row[static_cast<std::size_t>(s)] >= 0) inputs.push_back(row[static_cast<std::size_t>(s)]);
        row[static_cast<std::size_t>(s)] = g.add(1, inputs, 300000);
      }
  }));
  all.push_back(model("MLP, a training step", [] {
    auto x = pn::placeholder<float>({256, 512}, "x");
    auto y = pn::placeholder<float>({256, 1024}, "y");
    auto loss = pn::reduce_mean(pn::square(tower(x, 5, 1024, "mlp") - y));
    return pn::operation(tr::momentum{{.learning_rate = .01f, .momentum = .9f}}.minimize(loss));
  }));
  all.push_back(model("two towers, a training step", [] {
    auto user = pn::placeholder<float>({256, 512}, "user"), item = pn::placeholder<float>({256, 512}, "item");
    auto a = tower(user, 4, 1024, "user"), b = tower(item, 4, 1024, "item");
    auto loss = pn::reduce_mean(pn::square(pn::reduce_sum(a * b, {.axes = {1}}) - 1.f));
    return pn::operation(tr::gradient_descent{{.learning_rate = .01f}}.minimize(loss));
  }));
  return all;
}

void shapes() {
  fmt::print("\nmakespan in units of the best single device\n");
  fmt::print("{:<28} {:>7} {:>11} {:>11} {:>6} {:>7} {:>6} {:>16}\n", "graph", "devices", "one device", "round robin",
             "HEFT", "simple", "cost", "cost/best other");
  for (const stage& s : stages())
    for (const int devices : {2, 4, 8}) {
      const bool library = s.name.find("step") != std::string::npos;
      pn::sim::machine m = library ? pn::sim::machine() : pn::sim::machine({1e6, 0}, {1e6, 0});
      const pn::sim::planned_device like =
          library ? pn::sim::planned_device{.count = devices}
                  : pn::sim::planned_device{.count = devices, .flops = 1e6, .memory_bandwidth = 1e18, .launch = 1e-9};
      m.add("/job:worker/task:0", like);
      s.build(
          [&](const placement_problem& p) {
            double one = std::numeric_limits<double>::infinity();
            for (int d = 0; d < devices; ++d) one = std::min(one, makespan(p, m.costs(), pn::one_device_placer{d}(p)));
            const double turn = makespan(p, m.costs(), pn::round_robin_placer{}(p));
            const double heft = makespan(p, m.costs(), pn::heft_placer{m.costs()}(p));
            const double simple = makespan(p, m.costs(), pn::simple_placer{}(p));
            const double cost = makespan(p, m.costs(), pn::cost_placer{m.costs()}(p));
            fmt::print("{:<28} {:>7} {:>11.2f} {:>11.2f} {:>6.2f} {:>7.2f} {:>6.2f} {:>16.3f}\n", s.name, devices, 1.,
                       turn / one, heft / one, simple / one, cost / one, cost / std::min({one, turn, heft}));
          },
          m.devices());
    }
}

}  // namespace

int main(int argc, char** argv) {
  small_graphs(argc > 1 ? std::max(1, std::atoi(argv[1])) : 300);
  shapes();
}
