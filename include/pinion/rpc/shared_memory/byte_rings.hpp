// Two rings of bytes in memory that two processes share, one for each direction: what goes through them takes no call
// of the system, as long as the other end is awake.
//
// Invariants
//   1. Each word is written by one end alone, but for `awake` and `wants_room`, by which an end asks to be rung for;
//      the other takes that back when it rings.
//   2. Each end takes the other for hostile. It keeps its own counts to itself, and compares those of the other with
//      what is possible before it touches a byte; bytes are copied out of a ring before anybody reads them.
//   3. No end sleeps over what came. It clears `awake` before it looks for the last time, and the other end looks at
//      `awake` after it has put or taken bytes: one of the two sees what the other did.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <pinion/base/config.hpp>
#include <pinion/rpc/transport/asio.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// The words of one end in the shared memory. All are 0 at first.
struct ring_words {
  alignas(64) std::atomic<std::uint64_t> put;    // bytes so far into the ring of this end
  std::atomic<std::uint32_t> ended;              // 1: it puts no more there
  alignas(64) std::atomic<std::uint64_t> taken;  // bytes so far out of the ring of the other end
  alignas(64) std::atomic<std::uint32_t> awake;  // 1: it looks at the rings by itself, or was rung for
  std::atomic<std::uint32_t> wants_room;         // 1: it waits until there is room in its ring
  // The most that the other end may show it, see slab_account.hpp; this is said once.
  std::atomic<std::uint64_t> slabs, slab_bytes;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(ring_words) == 192);

// One end of both rings. It refers to the memory. One thread at a time puts bytes, and one takes them; the other
// functions are thread-safe but for what they say. It rings for nobody: its user does, by what system it likes.
class ring_end {
 public:
  static constexpr std::size_t capacity = std::size_t{64} << 10;  // bytes of a ring

  // The words and the ring of this end, and those of the other.
  ring_end(ring_words& words, std::byte* ring, ring_words& words_of_other, const std::byte* ring_of_other)
      : mine_(words), other_(words_of_other), out_(ring), in_(ring_of_other) {}

  // Puts as many of the bytes as there is room for, and returns how many. Throws data_loss if the other end says that
  // it has taken what was never there.
  std::size_t put(std::span<const asio::const_buffer> parts);
  // Is half of the ring free? Where it is not, and it is to be, the other end is asked to ring.
  bool has_room() const { return not_taken() <= capacity / 2; }
  bool ask_for_room();
  // The bytes that the other end has not taken, as far as that can be.
  std::uint64_t not_taken() const;
  // Puts no more.
  void end() { mine_.ended.store(1, std::memory_order_release); }

  // Takes as many bytes as are there and fit, and returns how many. Throws data_loss if the other end says that it has
  // put more than the ring holds.
  std::size_t take(std::span<std::byte> into);
  // By the thread that takes bytes.
  bool has_bytes() const { return other_.put.load(std::memory_order_seq_cst) != taken_; }
  // Has the other end put all that it ever will? Ask before take(), which may then return the last of it.
  bool is_ended() const { return other_.ended.load(std::memory_order_acquire) != 0; }

  // This end looks at the rings from now on; it does not, and has to be rung for. Look once more after the latter.
  void wake() { mine_.awake.store(1, std::memory_order_relaxed); }
  void sleep() { mine_.awake.store(0, std::memory_order_seq_cst); }
  // Does the other end have to be rung for, to see the bytes that were put or the end of them? Then the caller rings.
  bool must_ring() { return other_.awake.load(std::memory_order_seq_cst) == 0 && other_.awake.exchange(1) == 0; }
  // Does it have to be rung for, to see the room that was made by taking bytes?
  bool must_ring_for_room();

 private:
  void copy(const void* from, std::size_t bytes);

  ring_words &mine_, &other_;
  std::byte* const out_;
  const std::byte* const in_;
  std::uint64_t put_ = 0, taken_ = 0;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/shared_memory/byte_rings.ipp>
#endif
