// Bodies of <pinion/device/pool_allocator.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include <pinion/base/host_memory.hpp>
#include <pinion/base/process.hpp>
#include <pinion/device/pool_allocator.hpp>
#include <pinion/device/size_class.hpp>

namespace pinion { inline namespace v0 { namespace devices {

namespace detail {

inline buffer* new_block(std::size_t bytes) {
  std::byte* const data = new_host_memory(bytes);
  if (!data) throw_no_memory(bytes);
  return new buffer(data, bytes);
}
inline void delete_block(buffer* b) noexcept {
  delete_host_memory(static_cast<std::byte*>(b->data()), b->capacity());
  delete b;
}

}  // namespace detail

// The blocks that one thread keeps of the CPUs' pool: a few of each class up to 1 MiB, and 16 MiB at most.
class pool_allocator::own_blocks {
 public:
  // The blocks of this thread; null for another pool, and where the thread is at its end.
  static own_blocks* of_this_thread(const pool_allocator& pool) {
    if (ended() || &pool != &of_cpus()) return nullptr;
    thread_local own_blocks mine;
    return &mine;
  }
  own_blocks() = default;
  own_blocks(const own_blocks&) = delete;
  ~own_blocks() {
    ended() = true;
    leave();
  }
  void leave() {
    for (rack& r : racks_)
      while (r.count > 0) of_cpus().shelve(r.blocks[--r.count]);
    bytes_ = 0;
  }

  buffer* take(std::size_t index) {
    if (index >= racks_.size() || racks_[index].count == 0) return nullptr;
    rack& r = racks_[index];
    bytes_ -= size_class_bytes(index);
    return r.blocks[--r.count];
  }
  // Returns false where there is no room.
  bool keep(std::size_t index, buffer* b) {
    if (index >= racks_.size() || racks_[index].count == room_for(index)) return false;
    const std::size_t bytes = size_class_bytes(index);
    if (bytes_ + bytes > most_bytes) return false;
    bytes_ += bytes;
    rack& r = racks_[index];
    r.blocks[r.count++] = b;
    return true;
  }

 private:
  static constexpr std::size_t most = 16, most_bytes = 16 << 20;
  struct rack {
    std::size_t count = 0;
    std::array<buffer*, most> blocks;
  };
  static std::size_t room_for(std::size_t index) { return size_class_bytes(index) <= 64 << 10 ? most : 4; }
  static bool& ended() {
    thread_local bool is = false;  // readable after the blocks' own end
    return is;
  }

  std::array<rack, 176> racks_{};
  std::size_t bytes_ = 0;
};

PINION_DECL pool_allocator& pool_allocator::of_cpus() {
  struct shared {
    const std::shared_ptr<pool_allocator> pool = std::make_shared<pool_allocator>();
  };
  return *of_this_process<shared>().pool;
}

PINION_DECL buffer* pool_allocator::shelf::take() {
  std::lock_guard hold(mutex);
  if (idle.empty()) return nullptr;
  buffer* const b = idle.back();
  idle.pop_back();
  unneeded = std::min(unneeded, idle.size());
  return b;
}

PINION_DECL std::vector<buffer*> pool_allocator::shelf::take_unneeded() {
  std::lock_guard hold(mutex);
  const auto end = idle.begin() + static_cast<std::ptrdiff_t>(unneeded);  // those that were put there first
  std::vector<buffer*> taken(idle.begin(), end);
  idle.erase(idle.begin(), end);
  unneeded = idle.size();
  return taken;
}

PINION_DECL bool pool_allocator::shelf::keep(buffer* b) noexcept {
  try {
    std::lock_guard hold(mutex);
    idle.push_back(b);
    return true;
  } catch (...) {
    return false;
  }
}

PINION_DECL pool_allocator::~pool_allocator() {
  for (shelf& s : shelves_)
    for (buffer* b : s.idle) detail::delete_block(b);
}

PINION_DECL buffer* pool_allocator::allocate(std::size_t bytes, std::string_view) {
  const std::size_t index = size_class_of(bytes);
  if (own_blocks* const mine = own_blocks::of_this_thread(*this))
    if (buffer* const b = mine->take(index)) {
      b->hand_out_again();
      return b;
    }
  buffer* b = shelves_[index].take();
  if (!b) {
    b = detail::new_block(size_class_bytes(index));
    held_.fetch_add(static_cast<std::int64_t>(b->capacity()), std::memory_order_relaxed);
  }
  b->hand_out(shared_from_this());
  return b;
}

PINION_DECL void pool_allocator::recycle(buffer* idle) noexcept {
  own_blocks* const mine = own_blocks::of_this_thread(*this);
  if (!mine || !mine->keep(size_class_of(idle->capacity()), idle)) shelve(idle);
}

PINION_DECL void pool_allocator::leave_own() {
  if (own_blocks* const mine = own_blocks::of_this_thread(*this)) mine->leave();
}

PINION_DECL void pool_allocator::shelve(buffer* idle) noexcept {
  const auto self = idle->leave_home();  // keeps this pool until the end of the call
  if (!shelves_[size_class_of(idle->capacity())].keep(idle)) free(idle);
}

PINION_DECL void pool_allocator::free(buffer* idle) noexcept {
  held_.fetch_sub(static_cast<std::int64_t>(idle->capacity()), std::memory_order_relaxed);
  detail::delete_block(idle);
}

PINION_DECL std::int64_t pool_allocator::trim() {
  const std::int64_t before = held();
  for (shelf& s : shelves_)
    for (buffer* b : s.take_unneeded()) free(b);
  return std::max<std::int64_t>(before - held(), 0);  // others may take blocks meanwhile
}

}}}  // namespace pinion::v0::devices
