// The bytes that arrive by a stream, read through a buffer.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/rpc/traffic.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Reads a stream, counts its bytes, and knows when the last of them came. Small reads are served from a buffer, so that
// many of them cost one system call; the rest of a large one is read in place. While nothing arrives it holds no memory
// for what may but `first_`. Owned by a connection, which keeps what it refers to. For the network's thread, but where
// a function says other. Reads throw unavailable where the peer has closed the stream, and cancelled after end().
class buffered_reader {
 public:
  buffered_reader(network& net, byte_stream& from, traffic& count) : net_(net), stream_(from), traffic_(count) {}

  // Reads exactly `into`.
  awaitable<void> fill(std::span<std::byte> into);
  // From what has come already, since most messages come with others, and a coroutine for each of their parts would
  // take longer than to read them. Returns false where that is not all.
  bool fill_now(std::span<std::byte> into);
  // The next bytes of those that have come. Requires: there are so many.
  std::string take_text(std::size_t bytes);
  // How many have come and are not read yet.
  std::size_t unread() const { return unread_.size(); }
  // Reads at least one byte, past the buffer. Requires: none is unread. Returns how many.
  awaitable<std::size_t> read_some(std::span<std::byte> into);
  awaitable<void> skip(std::uint64_t bytes);

  void end() noexcept { over_ = true; }
  bool is_over() const noexcept { return over_; }

  // In any thread, these. The next bytes that come are refused, for want of memory.
  void give_up() noexcept { given_up_.store(true, std::memory_order_relaxed); }
  // The time when bytes last arrived.
  time_point last_heard() const { return time_point(duration(heard_.load(std::memory_order_relaxed))); }
  // Counts the peer as heard now.
  void forgive() { heard_.store(net_.now().time_since_epoch().count(), std::memory_order_relaxed); }

 private:
  awaitable<void> refill();
  void take_unread(std::span<std::byte> into);
  void count(std::size_t arrived);

  network& net_;
  byte_stream& stream_;
  traffic& traffic_;
  std::atomic<duration::rep> heard_{0};
  std::atomic<bool> given_up_{false};
  bool over_ = false;
  std::span<const std::byte> unread_;  // the rest of what arrived last; it lies in first_ or inbox_
  std::array<std::byte, 512> first_;   // small enough to be had by every connection, and enough for most messages
  network::inbox inbox_;               // borrowed while there is more
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/buffered_reader.ipp>
#endif
