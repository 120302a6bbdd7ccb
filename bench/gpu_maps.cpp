// Kernels of a GPU that memory limits, beside a copy on the GPU of as many bytes: fused maps, their gradients,
// reductions and softmax. Then maps that are interpreted, beside the compiled ones, and the flat map with two vectors
// for each thread instead of one.
//
//   gpu_maps [MIB...]              the sizes of operands; 64 and 512 unless said otherwise
//   gpu_maps --serve WORK MIB      takes turns for another process, as bench/peer.hpp has it
#include <cstddef>
#include <cstring>
#include <iostream>
#include <string>

#include <pinion/device/cuda/kernel_store.hpp>
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

// tanh(x * 2 + y), where a thread loads two vectors of each operand before it stores a result.
class map_of_two_vectors {
 public:
  map_of_two_vectors(std::int64_t floats, pn::cuda::device& on)
      : on_(on),
        x_(pn::dtype::float32, {floats}, on.memory()),
        y_(pn::dtype::float32, {floats}, on.memory()),
        z_(pn::dtype::float32, {floats}, on.memory()) {
    const pn::cuda::card::visit here(on.facts().number);
    kernel_ =
        pn::cuda::kernel_store::of(on.facts().major, on.facts().minor).find({"map_of_two_vectors", text}, nullptr);
    const argument a{x_.data<float>(), y_.data<float>(), z_.data<float>(), static_cast<unsigned>(floats / 4), 0};
    std::memcpy(argument_, &a, sizeof a);
    on.stream()->synchronize();
  }
  bool is_there() const { return kernel_ != nullptr; }
  void run() {
    const std::int64_t blocks = (x_.count() / 4 + 511) / 512;
    pn::cuda::launch(on_.stream()->native(), kernel_, argument_, static_cast<unsigned>(blocks), 256);
  }

 private:
  struct argument {
    const float *x, *y;
    float* z;
    unsigned vectors, unused;
  };
  static constexpr const char* text = R"(
namespace pinion { namespace {
struct two_vectors { const float* x; const float* y; float* z; unsigned vectors, unused; };
PINION_DEVICE pack<float, 4> element(const pack<float, 4> x, const pack<float, 4> y) {
  pack<float, 4> z;
#pragma unroll
  for (int i = 0; i < 4; ++i) z.at[i] = tanhf(x.at[i] * 2.f + y.at[i]);
  return z;
}
extern "C" __global__ void __launch_bounds__(256) map_of_two_vectors(const __grid_constant__ two_vectors a) {
  const unsigned first = blockIdx.x * 512u + threadIdx.x, second = first + 256u;
  if (first >= a.vectors) return;
  const bool both = second < a.vectors;
  const unsigned other = both ? second : first;
  const pack<float, 4> x0 = load<4>(a.x + first * 4), x1 = load<4>(a.x + other * 4);
  const pack<float, 4> y0 = load<4>(a.y + first * 4), y1 = load<4>(a.y + other * 4);
  store<4>(a.z + first * 4, element(x0, y0));
  if (both) store<4>(a.z + second * 4, element(x1, y1));
}
}}  // namespace
)";

  pn::cuda::device& on_;
  pn::any_tensor x_, y_, z_;
  CUkern_st* kernel_ = nullptr;
  std::byte argument_[sizeof(argument)];
};

void by_two_vectors(std::int64_t mib, pn::cuda::device& on) {
  const measured m(works[0], mib, on);
  map_of_two_vectors two(mib << 18, on);
  const std::string work = fmt::format("{} by two vectors a thread, {} MiB", works[0].name, mib);
  if (!two.is_there()) return bench::print_missing(work, "NVRTC is not there");
  bench::contest c;
  const int one_vector = c.add("pinion", bench::turns_of(on, [&] { m.node->run(); }));
  const int two_vectors = c.add("two vectors a thread", bench::turns_of(on, [&] { two.run(); }));
  c.run();
  c.row(work, one_vector, two_vectors, bench::at_least(.97));
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
  for (const std::int64_t mib : sizes) by_two_vectors(mib, *on);
  for (std::size_t i = 0; i < 3; ++i) interpreted(works[i], argv[0], sizes[0], *on);
}
