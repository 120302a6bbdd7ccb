// The kernels of every op of the library, in one table built from the catalogue.
#pragma once

#include <memory>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 {

// Makes the kernel of a node for its device. Throws unimplemented where the op declares no kernel there for its dtype.
// Where the device's kernels are CUDA and there is none for an op of the library, the node gets the kernel of hosts,
// which can serve there if it launches nothing.
std::unique_ptr<kernel> make_kernel_for(const kernel_setup& setup);

// A function that finds the maker of the CUDA kernel of an op of the library; null: there is none. A build with CUDA
// has one from the start. Another may take its place, for devices that a test makes. Thread-safe.
using cuda_kernel_finder = kernel_maker (*)(std::string_view op);
void find_cuda_kernels_by(cuda_kernel_finder finder);

// Start the libraries that kernels call, where a first call takes long: start_library(Op{}, dtype), which a family
// declares beside make_kernel, does so once in a process, in a thread of its own. One overload serves the nodes of a
// graph from an id on, the other all ops that a task may run. They never wait.
void start_libraries(const graph& g, node_id from = 0);
void start_libraries();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/kernels.ipp>
#endif
