// An op of one's own with a kernel in CUDA C++: nvcc compiles this file, and CMake adds it by pinion_cuda_sources.
//
//   x [6] ── RunningSum ── y      on a GPU by a kernel of one block, on a CPU by a loop
//
#include <pinion/cuda.hpp>

#include <numeric>

namespace pn = pinion;

// y[i] = x[0] + ... + x[i] for n elements, by one block of threads, a power of two: each step adds the sums that end a
// power of two before (Hillis and Steele, "Data parallel algorithms", CACM 1986).
__global__ void add_up(const float* x, float* y, long n) {
  __shared__ float sums[256];
  float before = 0;
  for (long first = 0; first < n; first += blockDim.x) {
    const long i = first + threadIdx.x;
    sums[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
      const float other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
      __syncthreads();
      sums[threadIdx.x] += other;
      __syncthreads();
    }
    if (i < n) y[i] = before + sums[threadIdx.x];
    before += sums[blockDim.x - 1];
    __syncthreads();
  }
}

struct running_sum {
  static constexpr std::string_view name = "RunningSum";
  static constexpr pn::input_count inputs = 1;
  static constexpr pn::dtype_set floats{pn::dtype::float32};
  static constexpr pn::kernel_set kernels{.cpu = floats, .gpu = floats};
  static constexpr std::string_view no_gradient = "this example has none";

  static void infer(pn::shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void cpu(pn::kernel_context& c) {
    const pn::any_tensor x = c.input(0), y = c.allocate(0, x.dtype(), x.shape());
    c.launch([x, y] { std::partial_sum(x.data<float>(), x.data<float>() + x.count(), y.data<float>()); });
  }
  static void gpu(pn::kernel_context& c) { cpu(c); }  // of a simulated GPU, which computes on the host
  static void cuda(pn::kernel_context& c, cudaStream_t on) {
    const pn::any_tensor x = c.input(0), y = c.allocate(0, x.dtype(), x.shape());
    add_up<<<1, 256, 0, on>>>(x.data<float>(), y.data<float>(), x.count());
  }
};

int main() {
  const pn::device on("/gpu:0");
  auto y = pn::call<running_sum>(pn::constant<float>({1, 2, 3, 4, 5, 6}));
  pn::session sess{{.allow_soft_placement = true}};
  fmt::print("{}\n", pn::to_string(sess.run(y)));
}
