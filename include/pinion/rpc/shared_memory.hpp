// Memory that the two ends of a connection share: pages of each, which it lends to the other with what it has put
// there.
//
// Each end takes the other for hostile. The memory is sealed against shrinking, so that no access to it can fail; but
// its bytes may change at any time, so a reader copies those that must stay as they were checked.
//
// Invariants
//   1. An end puts bytes to its own pages alone, and alone decides which of them are in use. It believes of the other
//      only that pages come back, and a lie about that harms the liar's own values.
//   2. A writer never waits: what has no room goes another way.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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

// One end's view of the memory, mapped while it exists. Pages that were never used take no memory. It is shared by its
// stream, and by all that lies in pages of the other end. Thread-safe.
class shared_memory : public std::enable_shared_from_this<shared_memory> {
 public:
  static constexpr std::size_t page = 4096, pages = std::size_t{1} << 16;
  // The bytes of one end.
  static constexpr std::size_t capacity = page * pages;

  // Makes the memory of a connection, for its client. Throws unavailable where the system has none.
  static std::shared_ptr<shared_memory> make();
  // Maps the memory that a client has made, for the server. Throws data_loss if it is not such memory.
  static std::shared_ptr<shared_memory> adopt(descriptor file);

  shared_memory(const shared_memory&) = delete;
  ~shared_memory();

  // Pages of this end, one behind the other, to which nobody else puts anything. It gives them back, unless they were
  // lent to the other end. Not thread-safe.
  class place {
   public:
    place() = default;
    place(place&& o) noexcept = default;
    place& operator=(place o) noexcept {
      std::swap(of_, o.of_), std::swap(first_, o.first_), std::swap(next_, o.next_);
      return *this;
    }
    ~place();
    explicit operator bool() const { return of_ != nullptr; }
    // Puts the next bytes there. Requires: there is room for them.
    void put(std::span<const std::byte> bytes);
    // Leaves the pages to the other end, until it gives them back. Returns the number of the first.
    std::uint16_t lend();

   private:
    friend class shared_memory;
    place(std::shared_ptr<shared_memory> of, std::size_t first);
    std::shared_ptr<shared_memory> of_;
    std::size_t first_ = 0;
    std::byte* next_ = nullptr;
  };
  // Finds a place for so many bytes; an empty one where there is none.
  place find_place(std::uint64_t bytes);

  // The bytes that the other end has lent, from a page on; they are given back with the last reference. Throws
  // data_loss if that end has no such pages.
  std::shared_ptr<std::byte> borrow(std::size_t first, std::uint64_t bytes);

  // Gives the memory of pages back to the system that are not lent, if no place was found since the last call.
  void trim();

  // The file, to be given to the server; empty for one that was given.
  const descriptor& file() const { return file_; }

 private:
  // A byte for each page of an end: the other end sets that of the first page which it gives back.
  using returned = std::atomic<std::uint8_t>;
  static_assert(returned::is_always_lock_free && sizeof(returned) == 1);

  shared_memory(descriptor file, side mine);
  side other() const { return mine_ == side::client ? side::server : side::client; }
  std::byte* of(side end) const;
  returned& flag(side end, std::size_t first) const;
  std::byte* bytes(side end, std::size_t first) const;
  void free(std::size_t first);
  // Requires: the lock is held. Gives the memory of the pages before `end` back to the system.
  void give_back(std::size_t first, std::size_t end);

  descriptor file_;
  const side mine_;
  std::byte* begin_ = nullptr;

  std::mutex mutex_;
  std::map<std::size_t, std::size_t> in_use_;  // of this end: first page and how many; others may have come back
  std::size_t touched_ = 0;                    // pages behind these take no memory
  bool is_busy_ = false, is_trimmed_ = false;  // was a place found since the last trim(); has that nothing to do?
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/shared_memory.ipp>
#endif
