// Bodies of <pinion/device/ledger.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/device/ledger.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// The name stays where the block is idle, so that the room of its text serves the next one.
struct ledger::block final : buffer {
  using buffer::buffer;
  std::string holder;
  bool in_use = false;
};

PINION_DECL ledger::ledger(std::string device, std::int64_t limit) : device_(std::move(device)), limit_(limit) {}

PINION_DECL ledger::~ledger() = default;

PINION_DECL buffer* ledger::take_idle(std::size_t size, std::string_view holder) {
  const auto at = idle_.find(size);
  if (at == idle_.end()) return nullptr;
  block* const b = at->second;
  idle_.erase(at);
  return enter(*b, holder);
}

PINION_DECL buffer* ledger::add(void* data, std::size_t size, std::string_view holder) {
  return enter(*blocks_.emplace_back(std::make_unique<block>(data, size)), holder);
}

PINION_DECL buffer* ledger::enter(block& b, std::string_view holder) {
  b.holder = holder;
  b.in_use = true;
  used_ += static_cast<std::int64_t>(b.capacity());
  peak_ = std::max(peak_, used_);
  return &b;
}

PINION_DECL void ledger::rename(buffer& in_use, std::string_view holder) {
  static_cast<block&>(in_use).holder = holder;
}

PINION_DECL void ledger::keep(buffer& back) {
  auto& b = static_cast<block&>(back);
  b.in_use = false;
  used_ -= static_cast<std::int64_t>(b.capacity());
  idle_.emplace(b.capacity(), &b);
}

PINION_DECL std::vector<void*> ledger::drop_idle() {
  std::vector<void*> memory;
  for (const auto& [size, b] : idle_) memory.push_back(b->data());
  idle_.clear();
  std::erase_if(blocks_, [](const auto& b) { return !b->in_use; });
  return memory;
}

PINION_DECL error ledger::no_memory(std::size_t bytes, const std::string& more) const {
  return error(errc::resource_exhausted, "no memory for " + std::to_string(bytes) + " bytes on " + device_ + ": " +
                                             std::to_string(used_) + " of " + std::to_string(limit_) +
                                             " bytes are in use" + largest_holders() + more)
      .on_device(device_);
}

namespace detail {

struct holding {
  std::string_view holder;
  std::size_t bytes = 0;
  int blocks = 0;
};

inline std::string to_string(const holding& h) {
  return (h.holder.empty() ? "values without a node" : "'" + std::string(h.holder) + "'") + " with " +
         std::to_string(h.bytes) + " bytes" + (h.blocks > 1 ? " in " + std::to_string(h.blocks) + " blocks" : "");
}

}  // namespace detail

PINION_DECL std::string ledger::largest_holders() const {
  constexpr std::size_t most = 4;
  std::map<std::string_view, detail::holding> by_name;
  for (const auto& b : blocks_)
    if (b->in_use) {
      auto& h = by_name[b->holder];
      h = {b->holder, h.bytes + b->capacity(), h.blocks + 1};
    }
  std::vector<detail::holding> all;
  for (const auto& [name, h] : by_name) all.push_back(h);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
    text += (i == 0 ? "; the largest holders are " : ", ") + detail::to_string(all[i]);
  return text;
}

}}}  // namespace pinion::v0::devices
