// Bodies of <pinion/rpc/shared_memory/byte_rings.hpp>.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/rpc/shared_memory/byte_rings.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL std::size_t ring_end::put(std::span<const asio::const_buffer> parts) {
  const std::uint64_t there = put_ - other_.taken.load(std::memory_order_acquire);
  if (there > capacity)
    throw error(errc::data_loss, "the other end of shared memory took bytes out of a ring that were never there");
  std::size_t room = capacity - static_cast<std::size_t>(there), all = 0;
  for (const auto& p : parts) {
    const std::size_t n = std::min(room, p.size());
    copy(p.data(), n);
    room -= n;
    all += n;
    if (room == 0) break;
  }
  mine_.put.store(put_, std::memory_order_seq_cst);
  return all;
}

PINION_DECL void ring_end::copy(const void* from, std::size_t bytes) {
  const std::size_t at = static_cast<std::size_t>(put_ % capacity), first = std::min(bytes, capacity - at);
  if (first > 0) std::memcpy(out_ + at, from, first);
  if (bytes > first) std::memcpy(out_, static_cast<const std::byte*>(from) + first, bytes - first);
  put_ += bytes;
}

PINION_DECL bool ring_end::ask_for_room() {
  mine_.wants_room.store(1, std::memory_order_seq_cst);
  return has_room();
}

PINION_DECL std::uint64_t ring_end::not_taken() const {
  const std::uint64_t taken = other_.taken.load(std::memory_order_seq_cst);  // first: others may put meanwhile
  return std::min<std::uint64_t>(mine_.put.load(std::memory_order_acquire) - taken, capacity);
}

PINION_DECL std::size_t ring_end::take(std::span<std::byte> into) {
  const std::uint64_t there = other_.put.load(std::memory_order_acquire) - taken_;
  if (there > capacity)
    throw error(errc::data_loss, "the other end of shared memory says that it put " + std::to_string(there) +
                                     " bytes into a ring of " + std::to_string(capacity));
  const std::size_t n = std::min(into.size(), static_cast<std::size_t>(there));
  if (n == 0) return 0;
  const std::size_t at = static_cast<std::size_t>(taken_ % capacity), first = std::min(n, capacity - at);
  std::memcpy(into.data(), in_ + at, first);
  if (n > first) std::memcpy(into.data() + first, in_, n - first);
  taken_ += n;
  mine_.taken.store(taken_, std::memory_order_seq_cst);
  return n;
}

PINION_DECL bool ring_end::must_ring_for_room() {
  if (other_.wants_room.load(std::memory_order_seq_cst) == 0) return false;
  const std::uint64_t left = other_.put.load(std::memory_order_relaxed) - taken_;
  return left <= capacity / 2 && other_.wants_room.exchange(0) != 0 && must_ring();
}

}}}  // namespace pinion::v0::rpc
