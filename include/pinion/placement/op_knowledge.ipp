// Bodies of <pinion/placement/op_knowledge.hpp>.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <unordered_map>

#include <pinion/base/process.hpp>
#include <pinion/op/catalogue.hpp>
#include <pinion/opkit/registry.hpp>
#include <pinion/placement/op_knowledge.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL bool op_facts::has_kernel(std::string_view device_type) const {
  return std::any_of(kernels.begin(), kernels.end(), [&](const kernel_on& k) { return k.device_type == device_type; });
}

PINION_DECL bool op_facts::has_kernel(std::string_view op, const device_info& on) const {
  return has_kernel(on.spec.type()) && std::find(on.lacks.begin(), on.lacks.end(), op) == on.lacks.end();
}

PINION_DECL std::string op_knowledge::missing(const node& n, std::string_view device_type) const {
  std::string text = n.op + " has no kernel on " + std::string(device_type), where;
  for (const kernel_on& k : facts(n).kernels) where += (where.empty() ? "" : " and ") + k.device_type;
  return text + (where.empty() ? ", nor anywhere" : "; there is one on " + where);
}

PINION_DECL std::string op_knowledge::missing_on(const node& n, const device_info& device) const {
  if (!facts(n).has_kernel(device.spec.type())) return missing(n, device.spec.type());
  const registered_op* const own = find_registered(n.op);
  return device.name + " lacks " + n.op +
         (own && !own->cuda ? ", which has no function cuda(kernel_context&, cudaStream_t)" : "");
}

namespace detail {

class library_knowledge final : public op_knowledge {
 public:
  library_knowledge() {
    for (const auto& [name, def] : definitions()) ops_.emplace(name, def);
  }
  const op_facts& facts(const node& n) const override {
    const known& k = of(n);
    return k.facts[static_cast<unsigned>(k.def->key(n))];
  }
  std::string missing(const node& n, std::string_view device_type) const override {
    const definition& def = *of(n).def;
    return no_kernel(n.op, def.kernels, def.key(n), device_type);
  }
  double work(const node& n, const work_context& sizes) const override {
    const definition& def = *of(n).def;
    return def.work ? def.work(sizes) : op_knowledge::work(n, sizes);
  }

 private:
  static constexpr unsigned dtypes = detail::dtype_count;
  struct known {
    const definition* def = nullptr;
    std::array<op_facts, dtypes> facts;
    const known* next = nullptr;  // in the list of registered ops

    explicit known(const definition& d) : def(&d) {
      for (unsigned t = 0; t < dtypes; ++t) facts[t] = facts_of(d, static_cast<dtype>(t));
    }
  };
  const known& of(const node& n) const {
    const auto at = ops_.find(n.op);
    return at != ops_.end() ? at->second : registered(definition_of(n.op));
  }
  // Registered ops are few and stay as long as the program, so their list only grows and is read without a lock.
  const known& registered(const definition& def) const {
    for (const known* k = registered_.load(std::memory_order_acquire); k; k = k->next)
      if (k->def == &def) return *k;
    auto* const fresh = new known(def);
    fresh->next = registered_.load(std::memory_order_acquire);
    while (!registered_.compare_exchange_weak(fresh->next, fresh, std::memory_order_acq_rel)) {
    }
    return *fresh;
  }
  static op_facts facts_of(const definition& def, dtype type) {
    op_facts f;
    if (def.kernels.cpu.has(type)) f.kernels.push_back({"CPU"});
    if (def.kernels.gpu.has(type)) f.kernels.push_back({"GPU"});
    f.stateful = def.stateful;
    f.metadata = def.metadata;
    return f;
  }
  std::unordered_map<std::string_view, known> ops_;
  mutable std::atomic<const known*> registered_{nullptr};
};

}  // namespace detail

PINION_DECL const op_knowledge& library_ops() {
  return of_this_process<detail::library_knowledge>();
}

}}  // namespace pinion::v0
