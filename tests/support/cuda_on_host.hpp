// CUDA C that runs on the host: texts of kernels, compiled as C++ by the compiler of the tests into a shared object.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include <pinion/op/elementwise/cuda_map.hpp>

#include "support/temporary_folder.hpp"

// One unit of kernels. Blocks run one after another, and the threads of a block take turns between barriers, so that a
// missing order between them is not seen.
class cuda_on_host {
 public:
  // `prelude` is the beginning that all kernels share.
  explicit cuda_on_host(std::string_view prelude) : text_(std::string(words) + std::string(prelude)) {}
  cuda_on_host(const cuda_on_host&) = delete;
  ~cuda_on_host() {
    if (library_) dlclose(library_);
  }

  // Adds the text of a kernel whose argument is pinion::<name>::argument.
  void add(std::string_view text, const std::string& name) {
    text_ += text;
    text_ += "extern \"C\" void run_" + name + "(const void* argument, unsigned blocks, unsigned threads) {\n";
    text_ += "  const auto run = [](const void* a) { pinion::" + name + "::" + name +
             "(*static_cast<const pinion::" + name + "::argument*>(a)); };\n";
    text_ += "  run_grid(run, argument, blocks, threads);\n}\n";
  }

  // Compiles and loads the unit. Throws what the compiler says.
  void build() {
    std::ofstream(folder_.path("unit.cpp")) << text_;
    const std::string command = std::string(PINION_TEST_CXX) + " -std=c++17 -O1 -ffp-contract=off " +
                                "-fno-strict-aliasing -fPIC -shared -w " + folder_.path("unit.cpp") + " -o " +
                                folder_.path("unit.so") + " > " + folder_.path("log") + " 2>&1";
    if (std::system(command.c_str()) != 0) throw std::runtime_error(command + "\n" + read("log"));
    library_ = dlopen(folder_.path("unit.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw std::runtime_error(dlerror());
  }

  // Runs a kernel. Requires: the unit is built.
  void run(const std::string& name, const pinion::op::cuda_launch& launch) const {
    using entry = void(const void*, unsigned, unsigned);
    auto* const f = reinterpret_cast<entry*>(dlsym(library_, ("run_" + name).c_str()));
    if (!f) throw std::runtime_error("there is no kernel " + name);
    f(launch.argument.data(), launch.blocks, pinion::op::cuda_launch::threads);
  }

 private:
  std::string read(const std::string& name) const {
    std::ifstream in(folder_.path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // CUDA's words, as far as kernels use them.
  static constexpr std::string_view words = R"(#include <math.h>
#include <string.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(threads)
#define rsqrtf(x) (1.f / sqrtf(x))
#define rsqrt(x) (1. / sqrt(x))
#include <ucontext.h>
#define __shared__ static
static struct { unsigned x; } threadIdx, blockIdx, blockDim, gridDim;
static const unsigned most_threads = 256;
static ucontext_t scheduler, thread_of[most_threads];
static bool has_ended[most_threads];
static char stack_of[most_threads][1 << 16];
static void (*kernel)(const void*);
static const void* kernel_argument;
static void run_thread() {
  kernel(kernel_argument);
  has_ended[threadIdx.x] = true;
}
// Each thread runs up to its next barrier, in turn, until all have ended.
static void run_grid(void (*run)(const void*), const void* argument, unsigned blocks, unsigned threads) {
  kernel = run, kernel_argument = argument, gridDim.x = blocks, blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    for (unsigned t = 0; t < threads; ++t) {
      has_ended[t] = false;
      getcontext(&thread_of[t]);
      thread_of[t].uc_stack.ss_sp = stack_of[t], thread_of[t].uc_stack.ss_size = sizeof stack_of[t];
      thread_of[t].uc_link = &scheduler;
      makecontext(&thread_of[t], run_thread, 0);
    }
    for (unsigned left = threads; left > 0;)
      for (unsigned t = 0; t < threads; ++t)
        if (!has_ended[t]) {
          threadIdx.x = t;
          swapcontext(&scheduler, &thread_of[t]);
          left -= has_ended[t];
        }
  }
}
static void __syncthreads() { swapcontext(&thread_of[threadIdx.x], &scheduler); }
template <class T> static T __shfl_down_sync(unsigned, T value, unsigned by, int width) {
  static T values[most_threads];
  const unsigned me = threadIdx.x;
  values[me] = value;
  __syncthreads();
  const T other = me % width + by < (unsigned)width ? values[me + by] : value;
  __syncthreads();
  return other;
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline float __int_as_float(int bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline double __longlong_as_double(long long bits) { double x; memcpy(&x, &bits, 8); return x; }
)";

  temporary_folder folder_;
  std::string text_;
  void* library_ = nullptr;
};
