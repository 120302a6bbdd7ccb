// The table of kernels for GPUs that nvcc has compiled together with a program's own units.
#pragma once

#include <atomic>
#include <cstdint>

#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/op/elementwise/cuda_walk.hpp>
#include <pinion/scalar/compiled.hpp>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace op {

// A kernel in this binary, with the program that it computes. It lives as long as the process.
struct ahead_kernel {
  std::uint64_t fingerprint;
  const scalar::program_view* computes;
  // Tells whether the unit has code for the GPU of the calling thread.
  bool (*is_there)();
  // Enqueues a run over a space that is not empty. A result without an address is not written. `literals` are numbers
  // of the program's arithmetic. Requires: takes(walk).
  void (*run)(CUstream_st* stream, const cuda::map_walk& walk, const void* literals);

  // Tells whether it serves a space: one of several dimensions has less than 2^31 elements.
  static bool takes(const broadcast_walk& walk) {
    return walk.extents.size() == 1 || walk.outer() * walk.inner() < std::int64_t{1} << 31;
  }
};

// A kernel that a unit has brought along. Each is linked into the list once, before or during main.
struct added_ahead_kernel {
  ahead_kernel kernel;
  const added_ahead_kernel* next = nullptr;
};
__attribute__((visibility("default"))) inline std::atomic<const added_ahead_kernel*> added_ahead_kernels{nullptr};

// Finds the kernel of an executable program; null if there is none. Thread-safe.
inline const ahead_kernel* find_ahead(const scalar::program& p) {
  const auto wanted = scalar::fingerprint(p);
  for (auto* k = added_ahead_kernels.load(std::memory_order_acquire); k; k = k->next)
    if (k->kernel.fingerprint == wanted && scalar::same_structure(*k->kernel.computes, p)) return &k->kernel;
  return nullptr;
}

}}}  // namespace pinion::v0::op
