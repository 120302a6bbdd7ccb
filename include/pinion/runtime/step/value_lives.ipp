// Bodies of <pinion/runtime/step/value_lives.hpp>.
#pragma once

#include <utility>

#include <pinion/runtime/step/value_lives.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void value_lives::note(const executable_item& it, std::span<const any_tensor> slots,
                                   const trace_moment& from, const trace_moment& until) {
  std::lock_guard hold(mutex_);
  for (int o = 0; o < it.outputs; ++o) {
    const auto slot = static_cast<std::size_t>(it.first_output + o);
    const any_tensor& value = slots[slot];
    if (!it.wanted[static_cast<std::size_t>(o)] || !value.storage()) continue;
    lives_[slot] = {value.storage().get(), static_cast<std::int64_t>(value.storage()->capacity()), from, {}};
  }
  for (const auto& in : it.inputs) {
    const auto slot = static_cast<std::size_t>(in.slot);
    if (lives_[slot].until.at <= until.at) lives_[slot].until = until;
    if (it.kind == part_item::fetch) fetched_[slot] = true;
  }
}

PINION_DECL void value_lives::tell() {
  const trace_moment now = into_.moment_of(*e_.device);
  std::vector<held_memory> all;
  for (std::size_t slot = 0; slot < lives_.size(); ++slot) {
    held_memory& life = lives_[slot];
    if (!life.block) continue;
    if (fetched_[slot] || life.until.at == 0) life.until = now;
    all.push_back(std::move(life));
  }
  into_.add(*e_.device, std::move(all));
}

}}}  // namespace pinion::v0::runtime
