// Bodies of <pinion/runtime/step/in_order_run.hpp>.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include <pinion/runtime/step/in_order_run.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void in_order_run::run(std::span<double> seconds) {
  using clock = std::chrono::steady_clock;
  const bool binds = seconds.empty() && !step_.tracer;
  kernel_context c = context();
  // A run like one that had no use for planned memory takes what it needs after all from the device.
  const bool needs_none = seconds.empty() && m_.only_bound;
  if (!e_.device->stream() && !needs_none) c.memory = &m_.values.begin(step_.feeds, e_.device->memory());
  bool only_bound = binds;
  const node* last = nullptr;
  clock::time_point before = seconds.empty() ? clock::time_point() : clock::now();
  for (std::size_t i = 0; i < e_.items.size();) {
    step_.check_deadline(last);
    if (step_.failed()) break;
    const auto& it = e_.items[i];
    last = it.node;
    if (const std::size_t end = it.may_bind && binds ? run_bound(i) : i; end > i) {
      last = e_.items[end - 1].node;
      i = end;
      continue;
    }
    only_bound &= it.kind != part_item::compute;
    run_alone(it, c);
    if (!seconds.empty()) {
      const clock::time_point after = clock::now();
      seconds[i] = std::chrono::duration<double>(after - std::exchange(before, after)).count();
    }
    ++i;
  }
  if (seconds.empty()) m_.only_bound = only_bound;
  if (step_.failed()) clear();  // else the last readers have taken all values
  tell_lives();
  if (c.memory) m_.values.end(step_.failed());
}

PINION_DECL void in_order_run::run_alone(const executable::item& it, kernel_context& c) {
  for (const auto& in : it.inputs) {
    auto& slot = m_.slots[static_cast<std::size_t>(in.slot)];
    if (in.last_in_order)
      m_.inputs.push_back(std::move(slot));
    else
      m_.inputs.push_back(slot);
  }
  run_item(it, c, m_.inputs);
  m_.inputs.clear();
}

PINION_DECL std::size_t in_order_run::run_bound(std::size_t first) {
  bound_sequence* const sequence = bound_from(first);
  if (!sequence || sequence->end() == static_cast<int>(first)) return first;
  try {
    sequence->run(m_.slots, &step_);
  } catch (...) {
    step_.fail(current_error());
  }
  return static_cast<std::size_t>(sequence->end());
}

PINION_DECL bound_sequence* in_order_run::bound_from(std::size_t first) {
  if (m_.bound.empty()) m_.bound.resize(e_.items.size());
  auto& known = m_.bound[first];
  for (const auto& one : known)
    if (one->is_of(m_.slots)) return one.get();
  if (known.size() == most_bound) return nullptr;
  return known.emplace_back(std::make_unique<bound_sequence>(e_, static_cast<int>(first), m_.slots)).get();
}

}}}  // namespace pinion::v0::runtime
