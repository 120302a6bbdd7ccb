// The kernels of the MNIST step for a GPU, compiled by NVRTC: as the first start of a program does it, all together in
// a unit for each thread, and as the next start does it, from the cache on the disk; beside each kernel alone. It needs
// NVRTC and no GPU; loading the code into a GPU is left out.
//
//   gpu_compile [architecture, 90]
//   gpu_compile --keep FOLDER [architecture]   fills a cache with the kernels of all that bench/gpu_training.cpp trains
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cuda/code_cache.hpp>
#include <pinion/device/cuda/compiler.hpp>
#include <pinion/device/cuda/kernel_store.hpp>
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
  std::vector<pn::cuda::kernel_text> take() { return std::move(all_); }

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
    if (names_.insert(text.name).second) all_.push_back(std::move(text));
  }

  std::set<std::string> names_;
  std::vector<pn::cuda::kernel_text> all_;
};

// The kernels of a step of a network, as it runs on a GPU.
std::vector<pn::cuda::kernel_text> texts_of_step(const std::vector<std::int64_t>& sizes) {
  pn::graph g;
  const auto use = g.as_default();
  const bench::network net(sizes);
  const pn::runtime::step_signature step{
      {net.images.endpoint(g), net.labels.endpoint(g)}, {net.loss.endpoint(g)}, {net.train.id(g)}};
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
  return texts.take();
}

// The starts of a program with these kernels.
class start {
 public:
  start(const std::vector<pn::cuda::kernel_text>& texts, int architecture)
      : texts_(texts), major_(architecture / 10), minor_(architecture % 10) {}

  // Into a folder.
  void first(const std::string& folder, pn::thread_pool& threads) const {
    pn::cuda::kernel_store store(major_, minor_, pn::cuda::code_cache(folder));
    for (const auto& one : texts_) store.announce(one);
    store.keep_announced(&threads);
  }
  void next(const std::string& folder) const {
    const pn::cuda::code_cache cache(folder);
    const pn::cuda::kernel_store store(major_, minor_, cache);
    for (const auto& one : texts_)
      if (!cache.find(store.key_of(one.text), compiler_.version()))
        throw std::runtime_error("the cache has lost a kernel");
  }
  void each_alone() const {
    for (const auto& one : texts_)
      compiler_.compile(std::string(pn::scalar::cuda_prelude()) + one.text, major_, minor_);
  }

 private:
  const pn::cuda::compiler& compiler_ = pn::cuda::compiler::of_this_program();
  const std::vector<pn::cuda::kernel_text>& texts_;
  const int major_, minor_;
};

void measure(int architecture, pn::thread_pool& threads) {
  const auto texts = texts_of_step(bench::mnist_sizes);
  fmt::print("NVRTC {}, sm_{}, {} kernels, {} threads\n", pn::cuda::compiler::of_this_program().version(), architecture,
             texts.size(), threads.threads() + 1);
  const start of(texts, architecture);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("pinion_gpu_compile.{}", ::getpid());
  of.first(folder, threads);
  bench::contest c;
  const int alone = c.add("each alone", bench::wall_seconds, [&] { of.each_alone(); });
  const int first = c.add("first start", bench::wall_seconds, [&] { of.first(folder, threads); });
  const int next = c.add("from the disk", bench::wall_seconds, [&] { of.next(folder); });
  c.run(5);
  c.row("kernels of the MNIST step", first, alone, bench::at_most(.5));
  c.row("kernels of the MNIST step", next, alone, bench::at_most(.02));
  std::filesystem::remove_all(folder);
}

void keep(const std::string& folder, int architecture, pn::thread_pool& threads) {
  auto texts = texts_of_step(bench::mnist_sizes);
  for (auto& one : texts_of_step(bench::wide_sizes)) texts.push_back(std::move(one));
  start(texts, architecture).first(folder, threads);
}

}  // namespace

int main(int argc, char** argv) try {
  const auto& nvrtc = pn::cuda::compiler::of_this_program();
  if (!nvrtc.is_there()) return fmt::print("There is no NVRTC here: {}.\n", nvrtc.problem()), 2;
  const bool keeps = argc > 2 && std::string(argv[1]) == "--keep";
  const char* const word = keeps ? argv[3] : argv[1];  // null behind the last one
  const int architecture = word ? std::atoi(word) : 90;
  pn::thread_pool threads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) - 1);
  keeps ? keep(argv[2], architecture, threads) : measure(architecture, threads);
} catch (const std::exception& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
