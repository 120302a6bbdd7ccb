// The memory file of a connection, as one end has mapped it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/rpc/security/key.hpp>
#include <pinion/rpc/shared_memory/byte_rings.hpp>

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

namespace detail {

// Throws data_loss unless no access to a file's bytes can fail: it is in memory, and has some seals and not others.
// Returns the number of its bytes.
std::size_t expect_sealed(int file, int with, int without);
// The error of a system call that has just failed.
error no_shared_memory(const char* call);

}  // namespace detail

// Where each end of a connection has its part of the memory: words, a ring, a byte for each page, and pages. Mapped
// while it exists. It guards nothing: who may use what is told by shared_memory.
class shared_mapping {
 public:
  static constexpr std::size_t page = 4096, pages = std::size_t{1} << 16;
  // The bytes of the pages of one end, and of all that it has.
  static constexpr std::size_t capacity = page * pages, end_bytes = page + ring_end::capacity + pages + capacity;

  // Makes the memory, for the client. Throws unavailable where the system has none.
  shared_mapping();
  // Maps the memory that a client has made, for the server. Throws data_loss if it is not such memory.
  explicit shared_mapping(descriptor file);
  shared_mapping(const shared_mapping&) = delete;
  ~shared_mapping();

  side mine() const { return mine_; }
  side other() const { return mine_ == side::client ? side::server : side::client; }

  ring_words& words(side end) const { return *reinterpret_cast<ring_words*>(of(end)); }
  // This end of the rings. It refers to this memory, in which there is one such end.
  ring_end rings() const { return {words(mine_), ring(mine_), words(other()), ring(other())}; }
  // The bytes from a page on.
  std::byte* bytes(side end, std::size_t first) const;
  // The byte of a page: the other end sets that of the first page which it gives back.
  using returned = std::atomic<std::uint8_t>;
  static_assert(returned::is_always_lock_free && sizeof(returned) == 1);
  returned& flag(side end, std::size_t first) const;
  // Throws data_loss unless an end has so many bytes from a page on.
  static void expect_pages(std::size_t first, std::uint64_t bytes);
  // Gives the memory of this end's pages before `end` back to the system.
  void give_back(std::size_t first, std::size_t end) const;

  // The file, to be given to the server; empty for one that was given.
  const descriptor& file() const { return file_; }
  // The file has been given: the memory stays without it, and a descriptor less is taken.
  void close_file() { file_ = descriptor(); }

 private:
  void map();
  std::byte* of(side end) const { return begin_ + (end == side::client ? 0 : end_bytes); }
  std::byte* ring(side end) const { return of(end) + page; }

  descriptor file_;
  const side mine_;
  std::byte* begin_ = nullptr;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/shared_memory/shared_mapping.ipp>
#endif
