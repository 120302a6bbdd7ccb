// Bodies of <pinion/opkit/registry.hpp>.
#pragma once

#include <string>

#include <pinion/opkit/registry.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::vector<std::string> registered_without_cuda() {
  std::vector<std::string> all;
  for (auto* op = registered_ops.load(std::memory_order_acquire); op; op = op->next)
    if (!op->cuda && !op->def.kernels.gpu.empty()) all.emplace_back(op->def.name);
  return all;
}

PINION_DECL const registered_op* find_registered(std::string_view name) {
  for (auto* op = registered_ops.load(std::memory_order_acquire); op; op = op->next)
    if (op->def.name == name) return op;
  return nullptr;
}

PINION_DECL void add_registered(registered_op& op) {
  op.next = registered_ops.load(std::memory_order_acquire);
  do {
    const registered_op* const other = find_registered(op.def.name);
    if (other && other->type == op.type) return;
    if (other)
      throw error(errc::already_exists, "op '" + std::string(op.def.name) + "' is registered by two types, " +
                                            std::string(other->type) + " and " + std::string(op.type));
  } while (!registered_ops.compare_exchange_weak(op.next, &op, std::memory_order_acq_rel));
}

}}  // namespace pinion::v0
