// A training step on a GPU, of the MNIST network and of one that is 4096 wide, beside PyTorch: eager, and with a graph
// of CUDA. All copy their batch from page-locked memory of the host, and fetch the loss. The peers come from the
// environment, as bench/peer.hpp has it: PEER_TORCH_GPU="python3 bench/peers/torch_gpu_peer.py".
#include <string>
#include <vector>

#include <pinion/session.hpp>
#include <pinion/tensor/page_locked.hpp>

#include "gpu_network.hpp"
#include "gpu_node.hpp"
#include "peer.hpp"

namespace {

namespace pn = pinion;

void compare(const std::string& what, const std::vector<std::int64_t>& sizes, std::int64_t rows) {
  pn::graph g;
  const auto use = g.as_default();
  const bench::network net(sizes);
  pn::session sess;
  sess.run(net.init);
  auto images = pn::page_locked<float>({rows, sizes.front()});  // as the peer's batch is
  auto labels = pn::page_locked<std::int32_t>({rows});
  for (std::int64_t i = 0; i < images.size(); ++i) images.data()[i] = static_cast<float>(i % 257) / 257;
  for (std::int64_t i = 0; i < rows; ++i) labels.data()[i] = static_cast<std::int32_t>(i % 10);
  auto step = sess.make_callable(pn::feeds(net.images, net.labels), pn::fetches(net.loss), pn::targets(net.train));

  bench::contest c;
  const int ours = c.add("pinion", bench::wall_seconds, [&] { step(images, labels); });
  std::vector<std::string> words{"eager", std::to_string(rows)};
  for (const std::int64_t s : sizes) words.push_back(std::to_string(s));
  const int eager = bench::add(c, bench::peer::start("TORCH_GPU", words), ", eager");
  words[0] = "graph";
  const int graph = bench::add(c, bench::peer::start("TORCH_GPU", words), ", with a graph of CUDA");
  c.run();
  const std::string work = fmt::format("{}, batch {}", what, rows);
  fmt::print("{}: a step of pinion takes {}\n", work, bench::in_words(c.seconds(ours)));
  if (eager >= 0) c.row(work, ours, eager, bench::at_most(1));
  if (graph >= 0) c.row(work, ours, graph, bench::at_most(1.1));
}

}  // namespace

int main() {
  if (!bench::first_gpu()) return 2;
  compare("MNIST step", bench::mnist_sizes, 50);
  compare("MNIST step", bench::mnist_sizes, 512);
  compare("4096-wide step", bench::wide_sizes, 512);
}
