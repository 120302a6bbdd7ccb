// Bodies of <pinion/runtime/step/bound_sequence.hpp>.
#pragma once

#include <algorithm>

#include <pinion/runtime/step/bound_sequence.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL bound_sequence::bound_sequence(const executable& e, int first, std::span<const any_tensor> slots)
    : e_(e), items_(e), end_(first) {
  binder b(e, items_);
  const int all = static_cast<int>(e.items.size());
  for (; end_ < all && e.items[static_cast<std::size_t>(end_)].may_bind; ++end_) {
    const std::size_t entered = entering_.size();
    if (enter(b, end_, slots) && b.add(end_)) continue;
    entering_.resize(entered);
    break;
  }
  if (end_ == first) {
    note_types(first, slots);
    return;
  }
  for (passage& p : entering_) p.last = e.last_reader[static_cast<std::size_t>(p.slot)] < end_;
  note_leaving(b, first);
}

PINION_DECL bool bound_sequence::enter(binder& b, int item, std::span<const any_tensor> slots) {
  for (const auto& in : e_.items[static_cast<std::size_t>(item)].inputs) {
    if (b.of(in.slot)) continue;
    const any_tensor& value = slots[static_cast<std::size_t>(in.slot)];
    if (!cell::fits(value)) return false;
    entering_.push_back({in.slot, b.enter(in.slot, value.dtype(), value.shape())});
  }
  return true;
}

PINION_DECL void bound_sequence::note_types(int item, std::span<const any_tensor> slots) {
  for (const auto& in : e_.items[static_cast<std::size_t>(item)].inputs) {
    const any_tensor& value = slots[static_cast<std::size_t>(in.slot)];
    entering_.push_back({in.slot, {value.dtype(), value.shape()}});
  }
}

PINION_DECL void bound_sequence::note_leaving(const binder& b, int first) {
  for (int i = first; i < end_; ++i) {
    const auto& it = e_.items[static_cast<std::size_t>(i)];
    for (int slot = it.first_output; slot < it.first_output + it.outputs; ++slot)
      if (e_.last_reader[static_cast<std::size_t>(slot)] >= end_) leaving_.push_back({slot, *b.of(slot)});
  }
}

PINION_DECL bool bound_sequence::is_of(std::span<const any_tensor> slots) const {
  return std::all_of(entering_.begin(), entering_.end(),
                     [&](const passage& p) { return p.at.is_of(slots[static_cast<std::size_t>(p.slot)]); });
}

PINION_DECL void bound_sequence::run(std::span<any_tensor> slots, const step_watch* watch) {
  for (const passage& p : entering_) {
    any_tensor& value = slots[static_cast<std::size_t>(p.slot)];
    p.at.fill(value.raw());
    if (p.last) value = {};
  }
  items_.run(watch);
  for (const passage& p : leaving_) slots[static_cast<std::size_t>(p.slot)] = p.at.tensor(e_.device->memory());
}

}}}  // namespace pinion::v0::runtime
