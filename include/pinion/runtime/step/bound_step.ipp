// Bodies of <pinion/runtime/step/bound_step.hpp>.
#pragma once

#include <pinion/runtime/step/bound_step.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL std::unique_ptr<bound_step> bound_step::make(const executable& e, std::span<const cell> feeds) {
  std::unique_ptr<bound_step> all(new bound_step(e));
  binder b(e, all->items_);
  for (int i = 0; i < static_cast<int>(e.items.size()); ++i)
    if (!all->add(b, e, i, feeds)) return nullptr;
  return all;
}

PINION_DECL bool bound_step::add(binder& b, const executable& e, int item, std::span<const cell> feeds) {
  const auto& it = e.items[static_cast<std::size_t>(item)];
  const auto index = static_cast<std::size_t>(it.index);
  switch (it.kind) {
    case part_item::feed: return b.put(it.first_output, feeds[index]), true;
    case part_item::fetch:
      if (results_.size() <= index) results_.resize(index + 1);
      if (const cell* const p = b.of(it.inputs[0].slot)) return results_[index] = *p, true;
      return false;
    default: return it.may_bind && b.add(item);
  }
}

}}}  // namespace pinion::v0::runtime
