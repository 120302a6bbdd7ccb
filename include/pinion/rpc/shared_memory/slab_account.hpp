// The slabs of memory that peers of this host show a task, and that it maps, and what it lends them: counted, and
// limited.
//
// Invariants
//   1. A slab counts from before it is mapped until it is unmapped, whoever holds bytes of it by then.
//   2. What a connection may show is set aside for it when it begins, and told to the other end. So one that keeps to
//      it is never refused, whatever others show.
//   3. What was set aside is free again when its connection ends, but for what is still mapped.
//   4. No connection is lent so much that nothing is left for others.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// A number of slabs, and their bytes of address space.
struct slab_count {
  std::uint64_t slabs = 0, bytes = 0;
  friend bool operator==(const slab_count&, const slab_count&) = default;
  slab_count& operator+=(const slab_count& o) { return slabs += o.slabs, bytes += o.bytes, *this; }
  slab_count& operator-=(const slab_count& o) { return slabs -= o.slabs, bytes -= o.bytes, *this; }
  friend slab_count operator+(slab_count a, const slab_count& b) { return a += b; }
  friend slab_count operator-(slab_count a, const slab_count& b) { return a -= b; }
  bool fits(const slab_count& in) const { return slabs <= in.slabs && bytes <= in.bytes; }
};

// The slabs that the other end of one connection shows, and the bytes that it is lent.
struct shared_use {
  slab_count shown;
  std::uint64_t lent = 0;
};

struct slab_limits {
  slab_count of_one{512, std::uint64_t{256} << 30}, of_all{16384, std::uint64_t{16} << 40};
  std::uint64_t lent_of_all = std::uint64_t{8} << 30;  // bytes
};

class slab_share;

// The slabs that are mapped for one task, and what it lends. Shared by its connections. Thread-safe.
class slab_account : public std::enable_shared_from_this<slab_account> {
 public:
  explicit slab_account(const slab_limits& limits = {}) : limits_(limits) {}

  // Sets aside what one more connection may show: no more than an eighth of what is left, so that none takes all.
  std::shared_ptr<slab_share> open_share();
  slab_count mapped() const;
  // The bytes that are lent to others, in pages and in slabs of this process.
  std::uint64_t lent() const;
  // The connections whose memory is mapped, each of which has a descriptor too until it ends.
  std::uint64_t connections() const;

 private:
  friend class slab_share;
  const slab_limits limits_;
  mutable std::mutex mutex_;
  slab_count set_aside_, mapped_;
  std::uint64_t connections_ = 0, lent_ = 0;
};

// The part of one connection. Shared by it and by its slabs. Thread-safe.
class slab_share : public std::enable_shared_from_this<slab_share> {
 public:
  slab_share(std::shared_ptr<slab_account> of, const slab_count& most) : of_(std::move(of)), most_(most) {}
  slab_share(const slab_share&) = delete;
  ~slab_share();

  const slab_count& most() const { return most_; }
  shared_use use() const;
  bool has_room(std::uint64_t bytes) const;
  // Counts one more slab while the result lives. Throws resource_exhausted where that is more than may be shown.
  std::shared_ptr<void> count(std::uint64_t bytes);
  // Counts bytes that are lent to the other end until end_loan(). Returns false, and counts nothing, where the end had
  // more than an eighth of what is left by others then.
  bool lend(std::uint64_t bytes);
  void end_loan(std::uint64_t bytes);  // the last ones are ended with the share
  // The connection has ended.
  void end();

  // One is no longer mapped. Called by what count() has returned.
  void give_back(const slab_count& one);

 private:
  bool takes(std::uint64_t bytes) const;  // requires: the lock is held

  const std::shared_ptr<slab_account> of_;
  const slab_count most_;
  slab_count mapped_;  // under the lock of the account, like the next
  std::uint64_t lent_ = 0;
  bool ended_ = false;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/shared_memory/slab_account.ipp>
#endif
