// The kernels of every op of the library, as one table built from the catalogue.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include <pinion/op/catalogue.hpp>
#include <pinion/op/kernel.hpp>
#if PINION_DEFINE_KERNELS
#include <pinion/op/control/cpu.hpp>
#include <pinion/op/conv/cpu.hpp>
#include <pinion/op/gather/cpu.hpp>
#include <pinion/op/layout/cpu.hpp>
#include <pinion/op/map/cpu.hpp>
#include <pinion/op/matmul/cpu.hpp>
#include <pinion/op/nn/cpu.hpp>
#include <pinion/op/queue/cpu.hpp>
#include <pinion/op/random/cpu.hpp>
#include <pinion/op/reduce/cpu.hpp>
#include <pinion/op/slice/cpu.hpp>
#include <pinion/op/source/cpu.hpp>
#include <pinion/op/sync/cpu.hpp>
#include <pinion/op/summary/cpu.hpp>
#include <pinion/op/variable/cpu.hpp>
#endif

namespace pinion::inline v0 {

// The kernel of a node on its device; unimplemented where the op declares none there for its dtype.
PINION_DECL std::unique_ptr<kernel> make_kernel_for(const kernel_setup& setup);

#if PINION_DEFINE_KERNELS
namespace detail {
inline const std::unordered_map<std::string_view, kernel_maker>& kernel_makers() {
  static const auto table = [] {
    std::unordered_map<std::string_view, kernel_maker> all;
    for_each_type(op::catalogue{}, [&]<class Op>() {
      all.emplace(Op::name, [](const kernel_setup& setup) { return make_kernel(Op{}, setup); });
    });
    return all;
  }();
  return table;
}
}  // namespace detail

PINION_DECL std::unique_ptr<kernel> make_kernel_for(const kernel_setup& setup) {
  const definition& def = definition_of(setup.node.op);
  const dtype key = def.key(setup.node);
  if (!def.kernels.has(setup.device.type(), key))
    throw error(errc::unimplemented, no_kernel(setup.node.op, def.kernels, key, setup.device.type()));
  const auto at = detail::kernel_makers().find(setup.node.op);
  return at != detail::kernel_makers().end() ? at->second(setup) : find_registered(setup.node.op)->make(setup);
}
#endif

}  // namespace pinion::inline v0
