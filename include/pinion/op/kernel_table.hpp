// The table of the kernels of hosts: for each op of the library, how one is made.
#pragma once

#include <string_view>
#include <unordered_map>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/base/type_list.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The entry of an op.
struct library_kernel {
  kernel_maker make;
  void (*start_library)(dtype);  // starts a library that the kernel calls; null: it needs none
};
using kernel_table = std::unordered_map<std::string_view, library_kernel>;

// Adds the kernels of ops: make_kernel(Op{}, setup), which a family declares in its cpu.hpp, and
// start_library(Op{}, dtype), where it does.
template <class Ops>
void add_kernels(kernel_table& to) {
  for_each_type(Ops{}, [&]<class Op>() {
    library_kernel& of = to[Op::name];
    of.make = [](const kernel_setup& setup) { return make_kernel(Op{}, setup); };
    if constexpr (requires(dtype type) { start_library(Op{}, type); })
      of.start_library = [](dtype type) { start_library(Op{}, type); };
  });
}

// Adds those of op::ops_of_elements, which are a unit of pinion::compiled: all kernels in one would take more memory to
// compile than a small machine has for each of two units.
void add_kernels_of_elements(kernel_table& to);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/kernels_of_elements.ipp>
#endif
