// A step of a hundred small kernels, beside a graph of CUDA with the same kernels that is launched by hand.
#include <pinion/op/nn/cuda_kernels.hpp>
#include <pinion/session.hpp>

#include "gpu_node.hpp"

namespace {

namespace pn = pinion;

constexpr int kernels = 100;
constexpr std::int64_t rows = 32, classes = 64;

// Owns a stream and the graph of the kernels, recorded in it.
class bare_graph {
 public:
  bare_graph() {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    cudaMalloc(&memory_, 2 * sizeof(float) * rows * classes);
    float* const a = static_cast<float*>(memory_);
    float* const b = a + rows * classes;
    cudaMemset(memory_, 0, 2 * sizeof(float) * rows * classes);
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal);
    for (int i = 0; i < kernels; ++i) pn::cuda::softmax(stream_, i % 2 ? b : a, i % 2 ? a : b, rows, classes);
    cudaStreamEndCapture(stream_, &graph);
    cudaGraphInstantiate(&runs_, graph, 0);
    cudaGraphDestroy(graph);
  }
  ~bare_graph() {
    cudaGraphExecDestroy(runs_);
    cudaFree(memory_);
    cudaStreamDestroy(stream_);
  }
  bare_graph(const bare_graph&) = delete;

  void run() {
    cudaGraphLaunch(runs_, stream_);
    cudaStreamSynchronize(stream_);
  }

 private:
  cudaStream_t stream_ = nullptr;
  void* memory_ = nullptr;
  cudaGraphExec_t runs_ = nullptr;
};

}  // namespace

int main() {
  if (!bench::first_gpu()) return 2;
  const pn::device on("/gpu:0");
  auto x = pn::variable(pn::tensor<float>({rows, classes}), {.name = "x"});
  pn::expr<float> y = x;
  for (int i = 0; i < kernels; ++i) y = pn::softmax(y);
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  auto step = sess.make_callable(pn::feeds(), pn::fetches(), pn::targets(pn::operation(y)));
  bare_graph bare;
  bench::contest c;
  const int ours = c.add("pinion", bench::wall_seconds, [&] { step(); });
  const int theirs = c.add("bare graph", bench::wall_seconds, [&] { bare.run(); });
  c.run();
  c.row("100 small kernels in a step", ours, theirs, bench::at_most(1.2));
}
