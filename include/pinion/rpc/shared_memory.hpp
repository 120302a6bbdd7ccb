// Memory that the two ends of a connection share: a ring for the bytes of each direction.
//
// Each end takes the other for hostile. Bytes are copied out once, into memory that the peer does not see, before
// anything looks at them. The memory is sealed against shrinking, so that no access to it can fail.
//
// Invariants
//   1. The writer of a ring alone knows how much it has put there, and the reader how much it has taken; what the
//   reader
//      writes into the memory of its progress is checked by the writer.
//   2. A writer never waits: what has no room in the ring goes another way.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/rpc/asio.hpp>
#include <pinion/rpc/key.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// An open file descriptor, which it owns.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) : fd_(fd) {}
  descriptor(descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  descriptor& operator=(descriptor o) noexcept {  // what it had is closed
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~descriptor();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// One end's view of the memory, mapped while it exists. Pages that were never used take no memory. One thread at a time
// puts, and one takes.
class shared_memory {
 public:
  // The bytes of one direction's ring.
  static constexpr std::size_t capacity = std::size_t{2} << 20;

  // Makes the memory of a connection, for its client. Throws unavailable where the system has none.
  static std::unique_ptr<shared_memory> make();
  // Maps the memory that a client has made, for the server. Throws data_loss if it is not such memory.
  static std::unique_ptr<shared_memory> adopt(descriptor file);

  shared_memory(const shared_memory&) = delete;
  ~shared_memory();

  // Copies the bytes into the ring, all or none of them. Returns false where they have no room.
  bool put(std::span<const asio::const_buffer> bytes);
  // Copies the next bytes out of the ring, which makes room for others.
  void take(std::span<std::byte> into);
  void pass_over(std::uint64_t bytes);

  // The file, to be given to the server; empty for one that was given.
  const descriptor& file() const { return file_; }

 private:
  // The memory of one direction begins with it, on a page of its own.
  struct ring {
    std::atomic<std::uint64_t> taken;  // written by the reader
  };
  shared_memory(descriptor file, side mine);
  side other() const { return mine_ == side::client ? side::server : side::client; }
  ring& of(side writer) const;
  std::byte* bytes_of(side writer) const;

  descriptor file_;
  const side mine_;
  std::byte* begin_ = nullptr;
  std::uint64_t put_ = 0, taken_ = 0;  // by this end
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/shared_memory.ipp>
#endif
