// Bodies of <pinion/base/host_memory.hpp>.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <new>

#include <pinion/base/host_memory.hpp>
#include <pinion/base/process.hpp>

#if !defined(F_SEAL_FUTURE_WRITE)  // Linux 5.1
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace pinion { inline namespace v0 {

namespace detail {

inline constexpr std::size_t alignment_of_pieces = 64, least_shared = std::size_t{16} << 10;
// A piece of more than a quarter of a usual slab has one of its own. Each takes a descriptor.
inline constexpr std::size_t usual_slab = std::size_t{16} << 20, most_slabs = 256;

inline std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

// A slab, and what of it is free.
class slab_room {
 public:
  explicit slab_room(std::shared_ptr<memory_slab> of)
      : slab(std::move(of)), free_{{sizeof(memory_slab::beginning), slab->bytes() - sizeof(memory_slab::beginning)}} {}

  const std::shared_ptr<memory_slab> slab;

  // Null where there is no room.
  std::byte* take(std::size_t bytes) {
    const auto at = std::find_if(free_.begin(), free_.end(), [bytes](const auto& f) { return f.second >= bytes; });
    if (at == free_.end()) return nullptr;
    const auto [offset, has] = *at;
    free_.erase(at);
    if (has > bytes) free_.emplace(offset + bytes, has - bytes);
    return slab->data() + offset;
  }
  void give(std::byte* piece, std::size_t bytes) {
    auto at = free_.emplace(static_cast<std::size_t>(piece - slab->data()), bytes).first;
    if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at == free_.begin()) return;
    const auto before = std::prev(at);
    if (before->first + before->second != at->first) return;
    before->second += at->second;
    free_.erase(at);
  }
  bool is_free() const {
    return free_.size() == 1 && free_.begin()->second == slab->bytes() - sizeof(memory_slab::beginning);
  }

 private:
  std::map<std::size_t, std::size_t> free_;  // offset and bytes
};

// The slabs of this process.
struct slab_table {
  std::atomic<bool> shares{false};
  std::atomic<std::uint64_t> last_id{0};
  std::mutex mutex;
  std::map<const std::byte*, slab_room> all;  // by where they begin

  slab_room* of(const void* data) {
    auto at = all.upper_bound(static_cast<const std::byte*>(data));
    if (at == all.begin()) return nullptr;
    --at;
    return static_cast<const std::byte*>(data) < at->first + at->second.slab->bytes() ? &at->second : nullptr;
  }
  // Null where there is no slab to be had.
  std::byte* take(std::size_t bytes) {
    const std::size_t most = usual_slab / 4;
    if (bytes <= most)
      for (auto& [begin, room] : all)
        if (room.slab->bytes() == usual_slab)
          if (std::byte* const piece = room.take(bytes)) return piece;
    if (all.size() == most_slabs) return nullptr;
    const std::size_t own = rounded_up(bytes + sizeof(memory_slab::beginning), std::size_t{64} << 10);
    auto made = memory_slab::make(bytes <= most ? usual_slab : own);
    if (!made) return nullptr;
    const std::byte* const begin = made->data();
    return all.emplace(begin, slab_room(std::move(made))).first->second.take(bytes);
  }
};

inline slab_table& slabs() {
  return of_this_process<slab_table>();
}

// A child that is forked begins with one thread; no other may hold the lock then.
inline void lock_slabs() {
  slabs().mutex.lock();
}
inline void unlock_slabs() {
  slabs().mutex.unlock();
}
inline void part_slabs() {
  for (auto& [begin, room] : slabs().all) room.slab->part_from_parent();
  slabs().mutex.unlock();
}

}  // namespace detail

PINION_DECL std::shared_ptr<memory_slab> memory_slab::make(std::size_t bytes) noexcept {
  const int file = ::memfd_create("pinion values", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return nullptr;
  void* at = MAP_FAILED;
  if (::ftruncate(file, static_cast<off_t>(bytes)) == 0)
    at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED ||
      ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
    if (at != MAP_FAILED) ::munmap(at, bytes);
    ::close(file);
    return nullptr;
  }
  std::shared_ptr<memory_slab> made(new memory_slab(file, static_cast<std::byte*>(at), bytes));
  made->first()->id = detail::slabs().last_id.fetch_add(1) + 1;
  return made;
}

PINION_DECL memory_slab::~memory_slab() {
  first()->is_gone.store(1, std::memory_order_release);
  ::munmap(data_, bytes_);
  ::close(file_);
}

PINION_DECL void memory_slab::part_from_parent() noexcept {
  ::mmap(data_, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file_, 0);
}

PINION_DECL void share_host_memory() {
  if (!detail::slabs().shares.exchange(true))
    ::pthread_atfork(detail::lock_slabs, detail::unlock_slabs, detail::part_slabs);
}

PINION_DECL std::byte* new_host_memory(std::size_t bytes) noexcept {
  if (detail::slab_table& all = detail::slabs();
      bytes >= detail::least_shared && all.shares.load(std::memory_order_relaxed)) {
    try {
      std::lock_guard hold(all.mutex);
      if (std::byte* const piece = all.take(detail::rounded_up(bytes, detail::alignment_of_pieces))) return piece;
    } catch (const std::bad_alloc&) {
    }
  }
  return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{detail::alignment_of_pieces}, std::nothrow));
}

PINION_DECL void delete_host_memory(std::byte* piece, std::size_t bytes) noexcept {
  if (detail::slab_table& all = detail::slabs();
      bytes >= detail::least_shared && all.shares.load(std::memory_order_relaxed)) {
    std::shared_ptr<memory_slab> gone;  // goes without the lock
    std::lock_guard hold(all.mutex);
    if (detail::slab_room* const room = all.of(piece)) {
      room->give(piece, detail::rounded_up(bytes, detail::alignment_of_pieces));
      if (!room->is_free()) return;
      gone = room->slab;
      all.all.erase(gone->data());
      return;
    }
  }
  ::operator delete (piece, std::align_val_t{detail::alignment_of_pieces});
}

PINION_DECL std::optional<place_in_slab> find_in_slabs(const void* data, std::size_t bytes) {
  detail::slab_table& all = detail::slabs();
  if (!all.shares.load(std::memory_order_relaxed)) return std::nullopt;
  std::lock_guard hold(all.mutex);
  const detail::slab_room* const room = all.of(data);
  if (!room) return std::nullopt;
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(data) - room->slab->data());
  if (offset + bytes > room->slab->bytes()) return std::nullopt;
  return place_in_slab{room->slab, offset};
}

}}  // namespace pinion::v0
