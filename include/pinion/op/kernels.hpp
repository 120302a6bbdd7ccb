// The kernels of every op of the library, as one table built from the catalogue.
#pragma once

#include <memory>

#include <pinion/base/config.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 {

// The kernel of a node on its device; unimplemented where the op declares none there for its dtype.
std::unique_ptr<kernel> make_kernel_for(const kernel_setup& setup);

// Kernels may stand on a library whose first call takes long: start_library(Op{}, dtype), beside make_kernel, begins it
// ahead, once in a process and in a thread of its own. These do so for the nodes of a graph from an id on, and for what
// a task may be asked for. They never wait.
void start_libraries(const graph& g, node_id from = 0);
void start_libraries();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/kernels.ipp>
#endif
