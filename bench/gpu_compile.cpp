// The kernels of the MNIST step for a GPU, compiled by NVRTC: as the first start of a program does it, all together in
// a unit for each thread, and as the next start does it, from the cache on the disk; beside each kernel alone. It needs
// NVRTC and no GPU; loading the code into a GPU is left out.
//
//   gpu_compile [architecture, 90]
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cuda/code_cache.hpp>
#include <pinion/device/cuda/compiler.hpp>
#include <pinion/op/elementwise/cuda_compiler.hpp>
#include <pinion/op/elementwise/cuda_map_gradient.hpp>
#include <pinion/op/elementwise/layout.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/optimize/optimize.hpp>
#include <pinion/runtime/step/prune.hpp>
#include <pinion/scalar/cuda_text.hpp>

#include "contest.hpp"
#include "gpu_network.hpp"

namespace {

namespace pn = pinion;
using pn::scalar::program;

constexpr std::int64_t rows = 64;  // in place of an extent that the graph does not know, as kernels are announced

pn::shape known(pn::shape s) {
  for (int d = 0; d < s.rank(); ++d)
    if (s[d] < 0) s.set(d, rows);
  return s;
}

// The texts of kernels, each once.
class text_list {
 public:
  // `results`: the results that are read of a gradient.
  void add_node(const pn::node& n, const std::vector<pn::shape>& inputs, const std::vector<bool>& results) {
    if (!n.attrs.has("program")) return;
    const program all = pn::scalar::executable(pn::op::program_of(n.attrs));
    const pn::shape space = pn::op::map_layout::space_of(inputs);
    n.op == "MapGrad" ? add_gradient(pn::op::with_results(all, results), space, inputs, results)
                      : add_map(all, space, inputs);
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  void add_map(const program& p, const pn::shape& space, std::vector<pn::shape> operands) {
    operands.insert(operands.end(), p.results.size(), space);
    const std::vector<const void*> aligned(operands.size(), nullptr);
    const auto form = pn::op::cuda_form_of(p, {space, operands}, aligned);
    add([&](const std::string& name) { return pn::op::cuda_map_text(p, form, name); });
  }
  void add_gradient(const program& p, const pn::shape& space, std::vector<pn::shape> operands,
                    const std::vector<bool>& results) {
    const std::vector<pn::shape> inputs = operands;
    for (std::size_t k = 0; k < results.size(); ++k)
      if (results[k]) operands.push_back(inputs[k]);
    const std::vector<const void*> aligned(operands.size(), nullptr);
    const auto form = pn::op::cuda_gradient_form_of(p, {space, operands}, aligned);
    add([&](const std::string& name) { return pn::op::cuda_gradient_text(p, form, name); });
    add([&](const std::string& name) { return pn::op::cuda_sum_text(p.arithmetic, name); });
  }
  template <class Write>
  void add(Write write) {
    auto text = pn::op::detail::named_text(write);
    if (names_.insert(text.name).second) all_.push_back(std::move(text.text));
  }

  std::set<std::string> names_;
  std::vector<std::string> all_;
};

// The kernels of a step of the network, as it runs on a GPU.
std::vector<std::string> texts_of_step() {
  pn::graph g;
  const auto use = g.as_default();
  const bench::network net(bench::mnist_sizes);
  const pn::runtime::step_signature step{
      {net.images.endpoint(), net.labels.endpoint()}, {net.loss.endpoint()}, {net.train.id()}};
  std::vector<pn::device_info> devices;
  for (const char* const kind : {"CPU", "GPU"}) {
    const std::string name = fmt::format("/job:localhost/replica:0/task:0/device:{}:0", kind);
    devices.push_back({pn::parse_device(name), name});
  }
  const pn::placement placed =
      pn::simple_placer{}({.graph = g, .nodes = pn::runtime::prune(g, step), .devices = devices});
  const auto runs = pn::runtime::optimize(g, placed, step);
  const pn::graph_view view = runs.in_place_of(g);
  std::set<std::pair<pn::node_id, int>> read;
  for (const auto id : pn::runtime::prune(view, runs.signature))
    for (const pn::output& from : view[id].inputs) read.insert({from.node, from.index});
  text_list texts;
  for (const auto id : pn::runtime::prune(view, runs.signature)) {
    std::vector<pn::shape> inputs;
    for (const pn::output& from : view[id].inputs)
      inputs.push_back(known(view[from.node].outputs[static_cast<std::size_t>(from.index)].shape));
    std::vector<bool> results;
    for (int k = 0; k < static_cast<int>(view[id].outputs.size()); ++k) results.push_back(read.contains({id, k}));
    texts.add_node(view[id], inputs, results);
  }
  return texts.all();
}

// Compiles kernels together, in so many units.
class start {
 public:
  start(const std::vector<std::string>& texts, int architecture) : texts_(texts), architecture_(architecture) {
    for (const auto& text : texts) keys_.push_back(pn::cuda::digest(text));
  }

  std::string unit(std::size_t from, std::size_t to) const {
    std::string text(pn::scalar::cuda_prelude());
    for (std::size_t i = from; i < to; ++i) text += texts_[i];
    return pn::cuda::compiler::of_this_program().compile(text, architecture_ / 10, architecture_ % 10);
  }
  void together(pn::thread_pool& threads) const {
    const auto units = std::min(texts_.size(), static_cast<std::size_t>(threads.threads()) + 1);
    threads.for_each_chunk(static_cast<std::int64_t>(units), [&](std::int64_t u) {
      const auto at = [&](std::int64_t i) { return texts_.size() * static_cast<std::size_t>(i) / units; };
      unit(at(u), at(u + 1));
    });
  }
  void each_alone() const {
    for (std::size_t i = 0; i < texts_.size(); ++i) unit(i, i + 1);
  }
  void keep(const pn::cuda::code_cache& cache) const { cache.keep(keys_, version_, unit(0, texts_.size())); }
  void find(const pn::cuda::code_cache& cache) const {
    for (const auto& key : keys_)
      if (!cache.find(key, version_)) throw std::runtime_error("the cache has lost a kernel");
  }

 private:
  const std::vector<std::string>& texts_;
  const std::string& version_ = pn::cuda::compiler::of_this_program().version();
  std::vector<std::string> keys_;
  const int architecture_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto& nvrtc = pn::cuda::compiler::of_this_program();
  if (!nvrtc.is_there()) return fmt::print("There is no NVRTC here: {}.\n", nvrtc.problem()), 2;
  const int architecture = argc > 1 ? std::atoi(argv[1]) : 90;
  const auto texts = texts_of_step();
  pn::thread_pool threads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) - 1);
  fmt::print("NVRTC {}, sm_{}, {} kernels, {} threads\n", nvrtc.version(), architecture, texts.size(),
             threads.threads() + 1);
  const start of(texts, architecture);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("pinion_gpu_compile.{}", ::getpid());
  const pn::cuda::code_cache cache(folder.string());
  of.keep(cache);
  bench::contest c;
  const int alone = c.add("each alone", bench::wall_seconds, [&] { of.each_alone(); });
  const int first = c.add("first start", bench::wall_seconds, [&] { of.together(threads); });
  const int next = c.add("from the disk", bench::wall_seconds, [&] { of.find(cache); });
  c.run(5);
  c.row("kernels of the MNIST step", first, alone, bench::at_most(.5));
  c.row("kernels of the MNIST step", next, alone, bench::at_most(.02));
  std::filesystem::remove_all(folder);
}
