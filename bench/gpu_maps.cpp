// Kernels of a GPU that memory limits, beside a copy on the GPU of as many bytes: fused maps, their gradients,
// reductions and softmax. Then maps that are interpreted, beside the compiled ones.
//
//   gpu_maps [MIB...]              the sizes of operands; 64 and 512 unless said otherwise
//   gpu_maps --serve WORK MIB      takes turns for another process, as bench/peer.hpp has it
#include <iostream>
#include <string>

#include <pinion/train.hpp>

#include "gpu_node.hpp"
#include "other_process.hpp"

namespace {

namespace pn = pinion;

// A node to measure: builds a graph over operands of so many floats, and names the op of its node.
struct work {
  std::string name;
  double reach;
  std::string op;  // empty: the node of the expression itself
  pn::expr<float> (*build)(std::int64_t floats);
};

pn::expr<float> in(const pn::shape& s) {
  return pn::placeholder<float>(s);
}

const work works[] = {
    {"flat map", .9, "",
     [](std::int64_t n) {
       auto x = in({n}), y = in({n});
       return pn::expr<float>(pn::tanh(x * 2.f + y));
     }},
    {"bias over rows", .9, "",
     [](std::int64_t n) {
       auto x = in({n / 1024, 1024}), b = in({1024});
       return pn::expr<float>(pn::elu(x + b));
     }},
    {"[a,1,c] with [b,1]", .9, "",
     [](std::int64_t n) {
       auto x = in({n / 65536, 1, 256}), y = in({256, 1});
       return pn::expr<float>(x * y + 1.f);
     }},
    {"Adam", .9, "ApplyAdam",
     [](std::int64_t n) {
       auto w = pn::variable(pn::tensor<float>({n}), {.name = "w"});
       pn::expr<float> loss = pn::reduce_sum(w * in({n}));
       pn::train::adam{{.learning_rate = .001}}.minimize(loss);
       return loss;
     }},
    {"gradient with sums over rows", .85, "MapGrad",
     [](std::int64_t n) {
       auto x = in({n / 1024, 1024}), b = in({1024});
       pn::expr<float> y = pn::tanh(x * b);
       pn::gradients(y, x, b);
       return y;
     }},
    {"sum of all", .85, "", [](std::int64_t n) { return pn::expr<float>(pn::reduce_sum(in({n}))); }},
    {"sum over rows", .85, "",
     [](std::int64_t n) {
       return pn::expr<float>(pn::reduce_sum(in({n / 1024, 1024}), {.axes = {0}}));
     }},
    {"sum over columns", .85, "",
     [](std::int64_t n) {
       return pn::expr<float>(pn::reduce_sum(in({n / 1024, 1024}), {.axes = {1}}));
     }},
    {"sum over the middle", .85, "",
     [](std::int64_t n) {
       return pn::expr<float>(pn::reduce_sum(in({n / 65536, 256, 256}), {.axes = {1}}));
     }},
    {"softmax", .85, "",
     [](std::int64_t n) {
       return pn::expr<float>(pn::softmax(in({n / 1024, 1024})));
     }},
};

// The node of a work on a GPU. It owns the graph.
struct measured {
  measured(const work& w, std::int64_t mib, pn::cuda::device& on) {
    const auto use = g.as_default();
    const pn::expr<float> y = w.build(mib << 18);
    const pn::node_id id = w.op.empty() ? y.endpoint(g).node : bench::node_of(g, w.op);
    if (id < 0) throw std::runtime_error("the graph of '" + w.name + "' has no node " + w.op);
    node = std::make_unique<bench::gpu_node>(g, id, on);
  }
  pn::graph g;
  std::unique_ptr<bench::gpu_node> node;
};

void beside_copies(const work& w, std::int64_t mib, pn::cuda::device& on) {
  const measured m(w, mib, on);
  bench::gpu_copy copy(on, m.node->bytes());
  bench::contest c;
  const int ours = c.add("pinion", bench::turns_of(on, [&] { m.node->run(); }));
  const int theirs = c.add("copy of as many bytes", bench::turns_of(on, [&] { copy.run(); }));
  c.run();
  c.row(fmt::format("{}, {} MiB", w.name, mib), ours, theirs, bench::at_least(w.reach));
  fmt::print("{:.0f} GB/s\n", static_cast<double>(m.node->bytes()) / c.seconds(ours) * 1e-9);
}

void interpreted(const work& w, const char* self, std::int64_t mib, pn::cuda::device& on) {
  const measured m(w, mib, on);
  bench::other_process other({"/usr/bin/env", "PINION_CUDA_INTERPRET=1", self, "--serve", w.name, std::to_string(mib)});
  while (other.line() != "ready") continue;
  bench::contest c;
  const int compiled = c.add("compiled", bench::turns_of(on, [&] { m.node->run(); }));
  const int slow = c.add("interpreted", [&](long calls) {
    other.say(std::to_string(calls));
    return std::stod(other.line());
  });
  c.run(9);
  c.row(fmt::format("{}, {} MiB", w.name, mib), slow, compiled, bench::at_most(100));
}

int serve(const std::string& name, std::int64_t mib, pn::cuda::device& on) {
  for (const work& w : works) {
    if (w.name != name) continue;
    const measured m(w, mib, on);
    auto turn = bench::turns_of(on, [&] { m.node->run(); });
    std::cout << "ready" << std::endl;
    for (long calls; std::cin >> calls;) std::cout << turn(calls) << std::endl;
    return 0;
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto on = bench::first_gpu();
  if (!on) return 2;
  if (argc == 4 && std::string(argv[1]) == "--serve") return serve(argv[2], std::stoll(argv[3]), *on);
  std::vector<std::int64_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::stoll(argv[i]));
  if (sizes.empty()) sizes.push_back(64);
  if (argc < 2 && !bench::quick()) sizes.push_back(512);
  for (const work& w : works)
    for (const std::int64_t mib : sizes) beside_copies(w, mib, *on);
  for (std::size_t i = 0; i < 3; ++i) interpreted(works[i], argv[0], sizes[0], *on);
}
