// Bodies of <pinion/runtime/step/binder.hpp>.
#pragma once

#include <algorithm>

#include <pinion/runtime/step/binder.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void bound_items::run(const step_watch* watch) {
  std::size_t at = 0;
  try {
    for (std::size_t until; at < calls_.size() && !(watch && watch->failed());)
      for (until = std::min(calls_.size(), at + looks_every); at < until; ++at) {
        __builtin_prefetch(calls_[std::min(at + ahead, calls_.size() - 1)].get());
        calls_[at]->run();
      }
  } catch (...) {
    const node& n = *e_.items[static_cast<std::size_t>(item_of_[at])].node;
    throw current_error().at_node(n.name, n.op, to_string(n.where)).on_device(e_.device->name());
  }
}

PINION_DECL const cell* binder::of(int slot) const {
  const auto found = cells_.find(slot);
  return found == cells_.end() ? nullptr : &found->second;
}

PINION_DECL const cell& binder::enter(int slot, dtype type, const shape& extent) {
  cell p{type, extent};
  into_.memory_.make_fresh(p);
  keep(slot, p);
  return cells_[slot];
}

PINION_DECL bool binder::add(int item) {
  const auto& it = e_.items[static_cast<std::size_t>(item)];
  std::vector<cell> inputs, outputs(static_cast<std::size_t>(it.outputs));
  for (const auto& in : it.inputs)
    if (const cell* p = of(in.slot))
      inputs.push_back(*p);
    else
      return false;
  const std::size_t calls = into_.calls_.size();
  if (!bind(it, inputs, outputs)) return false;
  if (into_.calls_.size() > calls) into_.item_of_.push_back(item);
  for (int o = 0; o < it.outputs; ++o)
    if (const cell& p = outputs[static_cast<std::size_t>(o)]; p.at) keep(it.first_output + o, p);
  for (int o = 0; o < it.outputs; ++o)
    if (outputs[static_cast<std::size_t>(o)].at && !it.wanted[static_cast<std::size_t>(o)])
      release(it.first_output + o);
  for (const auto& in : it.inputs)
    if (e_.last_reader[static_cast<std::size_t>(in.slot)] == item) release(in.slot);
  return true;
}

PINION_DECL bool binder::bind(const executable::item& it, std::span<const cell> inputs, std::span<cell> outputs) {
  binding b(into_.memory_, inputs, outputs, it.wanted);
  try {
    if (!it.kernel->bind(b)) return false;
  } catch (...) {
    return false;  // run with tensors, the kernel throws this error again, and the step tells it
  }
  if (auto call = b.take_call()) into_.calls_.push_back(std::move(call));
  return true;
}

PINION_DECL void binder::keep(int slot, const cell& p) {
  cells_[slot] = p;
  if (!p.lasting) ++live_[p.at];
}

PINION_DECL void binder::release(int slot) {
  const auto found = cells_.find(slot);
  if (found == cells_.end()) return;  // released as another input of the same item
  const cell p = found->second;
  cells_.erase(found);
  if (p.lasting || --live_[p.at] > 0) return;
  live_.erase(p.at);
  into_.memory_.give_back(p);
}

}}}  // namespace pinion::v0::runtime
