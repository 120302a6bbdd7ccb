// Bodies of <pinion/distributed/server/burdens.hpp>.
#pragma once

#include <pinion/base/error.hpp>
#include <pinion/distributed/server/burdens.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::shared_ptr<burdens::burden> burdens::of(std::uint64_t client) {
  auto& found = all_[client];
  if (!found) found = std::make_shared<burden>();
  return found;
}

PINION_DECL burdens::share burdens::of_message(std::uint64_t client, std::uint64_t bytes) {
  constexpr std::uint64_t of_any = 1024;  // of a message, however short
  const auto all = of(client);
  const std::uint64_t size = bytes + of_any, held = all->bytes.load(std::memory_order_relaxed);
  if (held > 0 && held + size > limits_.bytes_received)
    throw error(errc::resource_exhausted, "more than " + std::to_string(limits_.bytes_received) +
                                              " bytes of one client wait in " + task_ +
                                              " (server_config.limits.bytes_received)");
  all->bytes.fetch_add(size, std::memory_order_relaxed);
  return share(nullptr, [all, size](void*) { all->bytes.fetch_sub(size, std::memory_order_relaxed); });
}

PINION_DECL burdens::share burdens::of_run(std::uint64_t client) {
  const auto all = of(client);
  if (all->runs.load(std::memory_order_relaxed) >= limits_.runs)
    throw error(errc::resource_exhausted, "more than " + std::to_string(limits_.runs) + " runs of one client wait in " +
                                              task_ + " (server_config.limits.runs)");
  all->runs.fetch_add(1, std::memory_order_relaxed);
  return share(nullptr, [all](void*) { all->runs.fetch_sub(1, std::memory_order_relaxed); });
}

}}}  // namespace pinion::v0::distributed
