// Memory that the two ends of a connection share: a ring of each, through which its bytes go to the other, and pages,
// which it lends to the other with what it has put there. What lies in a slab of this process (base/host_memory.hpp)
// is not put there: the other end is shown the slab, and lent the bytes where they are.
//
// Each end takes the other for hostile. The memory is sealed against shrinking, so that no access to it can fail; but
// its bytes may change at any time, so a reader copies those that must stay as they were checked.
//
// Invariants
//   1. An end puts bytes to its own pages alone, and alone decides which of them are in use. It believes of the other
//      only that pages come back, and a lie about that harms the liar's own values.
//   2. A writer never waits: what has no room goes another way.
//   3. Bytes in a slab stay as they are, since their owner is held, until the other end gives back the page that tells
//      where they are. That end can read the slab, and not write it.
//   4. An end shows half of what the other has said that it takes at most, since that may not yet have let go of some.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/host_memory.hpp>
#include <pinion/rpc/security/key.hpp>
#include <pinion/rpc/shared_memory/shared_mapping.hpp>
#include <pinion/rpc/shared_memory/slab_account.hpp>
#include <pinion/rpc/transport/asio.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// One end's view of the memory, mapped while it exists. Pages that were never used take no memory. It is shared by its
// stream, and by all that lies in pages of the other end. Thread-safe.
class shared_memory : public std::enable_shared_from_this<shared_memory> {
  struct only_make {
    explicit only_make() = default;
  };

 public:
  shared_memory(only_make, const std::shared_ptr<slab_account>& account);
  shared_memory(only_make, descriptor file, const std::shared_ptr<slab_account>& account);
  static constexpr std::size_t page = shared_mapping::page, pages = shared_mapping::pages;
  static constexpr std::size_t capacity = shared_mapping::capacity;  // the bytes of the pages of one end

  // Makes the memory of a connection, for its client. Throws unavailable where the system has none. The account counts
  // what the other end shows, and what it is lent.
  static std::shared_ptr<shared_memory> make(
      const std::shared_ptr<slab_account>& account = std::make_shared<slab_account>()) {
    return std::make_shared<shared_memory>(only_make(), account);
  }
  // Maps the memory that a client has made, for the server. Throws data_loss if it is not such memory.
  static std::shared_ptr<shared_memory> adopt(
      descriptor file, const std::shared_ptr<slab_account>& account = std::make_shared<slab_account>()) {
    return std::make_shared<shared_memory>(only_make(), std::move(file), account);
  }

  shared_memory(const shared_memory&) = delete;
  ~shared_memory();

  // Pages of this end, one behind the other, to which nobody else puts anything. It gives them back, unless they were
  // lent to the other end. Not thread-safe.
  class place {
   public:
    place() = default;
    place(place&& o) noexcept = default;
    place& operator=(place o) noexcept {
      std::swap(of_, o.of_), std::swap(first_, o.first_), std::swap(next_, o.next_), std::swap(owner_, o.owner_);
      std::swap(held_, o.held_);
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
    // Holds the owner of bytes in a slab as long as the pages are in use, here or there.
    void hold(std::shared_ptr<const void> owner, std::uint64_t bytes) { owner_ = std::move(owner), held_ = bytes; }
    std::shared_ptr<shared_memory> of_;
    std::size_t first_ = 0;
    std::byte* next_ = nullptr;
    std::shared_ptr<const void> owner_;
    std::uint64_t held_ = 0;  // bytes of the owner
  };
  // Finds a place for so many bytes; an empty one where there is none, or where the account has no more to lend.
  place find_place(std::uint64_t bytes);

  // The bytes that the other end has lent, from a page on; they are given back with the last reference. Throws
  // data_loss if that end has no such pages.
  std::shared_ptr<std::byte> borrow(std::size_t first, std::uint64_t bytes);

  // Has the other end been shown a slab? May it be shown one more? Whoever has shown one says so.
  bool has_shown(const memory_slab& slab) const;
  bool may_show(const memory_slab& slab) const;
  void note_shown(const std::shared_ptr<const memory_slab>& slab);
  // A place that tells where bytes are in a slab, and holds their owner; an empty one where there is none, or where
  // more than `capacity` bytes in slabs would be lent at a time. Requires: the other end has been shown the slab.
  place find_place(const place_in_slab& where, std::uint64_t bytes, std::shared_ptr<const void> owner);

  // Takes a slab that the other end shows. Throws data_loss if it is none, and resource_exhausted for one too many.
  void take_shown(descriptor file);
  // The bytes in a slab of the other end, of which a page of that end tells where they are; null if it has not shown
  // such a slab. They are given back with the last reference. Throws data_loss if they are not in that slab.
  std::shared_ptr<std::byte> borrow_shown(std::size_t first, std::uint64_t bytes);

  // Tells what the other end shows, and is lent.
  shared_use use() const { return share_->use(); }

  // Gives the memory of pages back to the system that are not lent, if no place was found since the last call.
  void trim();
  // The connection has ended: lets go of some slabs of the other end, which are unmapped unless somebody here has bytes
  // of them. Returns true while there are more, and is called again then, after others. In the network's
  // thread, as trim().
  bool end();

  // The file, and this end of the rings.
  shared_mapping& mapping() { return map_; }

 private:
  void tell_limits();
  void free(std::size_t first, std::uint64_t on_loan);
  void keep_loan(std::size_t first, std::uint64_t bytes, std::shared_ptr<const void> owner);
  // Requires, for these: the lock is held.
  bool is_back(std::size_t first) const { return map_.flag(map_.mine(), first).load(std::memory_order_acquire) != 0; }
  struct used {
    std::size_t count;          // of pages
    std::uint64_t on_loan = 0;  // bytes in a slab, and their owner
    std::shared_ptr<const void> owner = nullptr;
  };
  using uses = std::map<std::size_t, used>;              // by the first page
  void end_use(const used& one, std::uint64_t on_loan);  // of pages, and of the bytes in a slab
  void end_loan(std::uint64_t bytes);
  // Takes what has come back from those in use to others, which go without the lock. Returns the next in use.
  uses::iterator take_back(uses::iterator one, uses& back);
  void take_back_all(uses& back);
  // Counts bytes as lent, those not that have come back. Returns false where the account has no more to lend.
  bool lends(std::uint64_t bytes, uses& back);

  // A slab of the other end, mapped to be read, and counted.
  struct shown_slab {
    const std::shared_ptr<void> counted;
    const std::size_t bytes;
    const std::byte* const data;
    // Throws unavailable where the system does not map it.
    shown_slab(int file, std::size_t size, std::shared_ptr<void> as);
    shown_slab(const shown_slab&) = delete;
    ~shown_slab();
    const memory_slab::beginning& first() const { return *reinterpret_cast<const memory_slab::beginning*>(data); }
  };
  // The text of a page that tells where bytes are.
  struct told_place {
    std::uint64_t slab, offset;
  };
  void drop_gone();

  shared_mapping map_;
  const std::shared_ptr<slab_share> share_;  // of what the other end shows, and is lent

  mutable std::mutex mutex_;
  uses in_use_;                // of this end; others may have come back
  std::uint64_t on_loan_ = 0;  // bytes in slabs
  struct shown_here {
    std::weak_ptr<const memory_slab> slab;
    std::uint64_t bytes;
  };
  std::map<std::uint64_t, shown_here> shown_;  // by their numbers
  slab_count shown_count_;
  std::map<std::uint64_t, std::shared_ptr<const shown_slab>> shown_by_other_;  // in the network's thread
  std::size_t touched_ = 0;                                                    // pages behind these take no memory
  bool is_busy_ = false, is_trimmed_ = false;  // was a place found since the last trim(); has that nothing to do?
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/shared_memory/shared_memory.ipp>
#endif
