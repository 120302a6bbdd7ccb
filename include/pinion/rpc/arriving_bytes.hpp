// Bytes of which many are announced and few have come: memory is taken for what comes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// The bytes of a message that arrive one after the other, in pieces: each is as large as all before it, and the first
// is of 1 MiB. So their memory is at most twice what has come, and nobody has to copy them while they come. It owns the
// pieces. Not thread-safe.
class arriving_bytes {
 public:
  arriving_bytes() = default;
  explicit arriving_bytes(std::uint64_t announced) : announced_(announced), left_(announced) {}

  std::uint64_t announced() const { return announced_; }

  // Memory for the next bytes, to be filled before the next call; empty when there is memory for all.
  std::span<std::byte> next_room() {
    constexpr std::uint64_t first = std::uint64_t{1} << 20;
    const auto bytes = static_cast<std::size_t>(std::min(left_, std::max(first, announced_ - left_)));
    if (bytes == 0) return {};
    left_ -= bytes;
    pieces_.push_back({std::make_unique_for_overwrite<std::byte[]>(bytes), bytes});
    return {pieces_.back().bytes.get(), bytes};
  }

  // Moves all bytes to where they belong; the rooms are as long as the bytes in total. Each piece is freed when it has
  // been copied.
  void move_to(std::span<const std::span<std::byte>> rooms) {
    auto next = pieces_.begin();
    std::size_t at = 0;
    for (std::span<std::byte> room : rooms)
      while (!room.empty()) {
        const std::size_t n = std::min(room.size(), next->size - at);
        std::memcpy(room.data(), next->bytes.get() + at, n);
        room = room.subspan(n);
        if ((at += n) < next->size) continue;
        (next++)->bytes = nullptr;
        at = 0;
      }
  }

 private:
  struct piece {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };
  std::uint64_t announced_ = 0, left_ = 0;
  std::vector<piece> pieces_;
};

}}}  // namespace pinion::v0::rpc
