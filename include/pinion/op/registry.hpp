// Ops that a program brings along, beside those of the catalogue.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include <pinion/op/definition.hpp>

namespace pinion::inline v0 {

class kernel;
struct kernel_setup;

// What is known of such an op. Lives as long as the program; linked into the list once.
struct registered_op {
  definition def;
  std::string_view type;  // the C++ type, by its name
  std::unique_ptr<kernel> (*make)(const kernel_setup&) = nullptr;
  const registered_op* next = nullptr;
};

__attribute__((visibility("default"))) inline std::atomic<const registered_op*> registered_ops{nullptr};

// Null where no op of that name was registered. Thread-safe.
inline const registered_op* find_registered(std::string_view name) {
  for (auto* op = registered_ops.load(std::memory_order_acquire); op; op = op->next)
    if (op->def.name == name) return op;
  return nullptr;
}

// Thread-safe. Throws already_exists where another type has the name; the same type, in another library of the program,
// may come again.
inline void add_registered(registered_op& op) {
  op.next = registered_ops.load(std::memory_order_acquire);
  do {
    const registered_op* const other = find_registered(op.def.name);
    if (other && other->type == op.type) return;
    if (other)
      throw error(errc::already_exists, "op '" + std::string(op.def.name) + "' is registered by two types, " +
                                            std::string(other->type) + " and " + std::string(op.type));
  } while (!registered_ops.compare_exchange_weak(op.next, &op, std::memory_order_acq_rel));
}

}  // namespace pinion::inline v0
