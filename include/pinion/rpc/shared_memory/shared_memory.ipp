// Bodies of <pinion/rpc/shared_memory/shared_memory.hpp>.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/rpc/shared_memory/shared_memory.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

inline std::size_t bytes_of_slab(int file) {
  const std::size_t bytes = expect_sealed(file, F_SEAL_SHRINK, 0);
  if (bytes < sizeof(memory_slab::beginning))
    throw error(errc::data_loss, "the peer shows a slab of memory of " + std::to_string(bytes) + " bytes");
  return bytes;
}

}  // namespace detail

PINION_DECL shared_memory::shared_memory(only_make, const std::shared_ptr<slab_account>& account)
    : share_(account->open_share()) {
  tell_limits();
}

PINION_DECL shared_memory::shared_memory(only_make, descriptor file, const std::shared_ptr<slab_account>& account)
    : map_(std::move(file)), share_(account->open_share()) {
  tell_limits();
}

PINION_DECL void shared_memory::tell_limits() {
  ring_words& mine = map_.words(map_.mine());
  mine.slabs.store(share_->most().slabs, std::memory_order_relaxed);
  mine.slab_bytes.store(share_->most().bytes, std::memory_order_relaxed);
}

PINION_DECL shared_memory::~shared_memory() {
  share_->end();
}

PINION_DECL shared_memory::place shared_memory::find_place(std::uint64_t bytes) {
  if (bytes == 0 || bytes > capacity) return {};
  const std::size_t count = (static_cast<std::size_t>(bytes) + page - 1) / page;
  uses back;  // its owners go without the lock
  std::lock_guard hold(mutex_);
  is_busy_ = true;
  is_trimmed_ = false;
  // The first room that is large enough: low pages were used before, and need not be found by the system. Beyond it all
  // are looked at while some are on loan, since their owners wait for their memory.
  std::size_t first = 0;
  bool fits = false;
  for (auto at = in_use_.begin(); at != in_use_.end() && (!fits || on_loan_ > 0);) {
    if (is_back(at->first)) {
      at = take_back(at, back);
      continue;
    }
    fits = fits || at->first - first >= count;
    if (!fits) first = at->first + at->second.count;
    ++at;
  }
  if (first + count > pages || !lends(count * page, back)) return {};
  map_.flag(map_.mine(), first).store(0, std::memory_order_relaxed);
  in_use_.emplace(first, used{count});
  touched_ = std::max(touched_, first + count);
  return place(shared_from_this(), first);
}

PINION_DECL void shared_memory::free(std::size_t first, std::uint64_t on_loan) {
  std::lock_guard hold(mutex_);
  if (const auto one = in_use_.extract(first)) end_use(one.mapped(), on_loan);
}

PINION_DECL void shared_memory::end_use(const used& one, std::uint64_t on_loan) {
  share_->end_loan(one.count * page);
  end_loan(on_loan);
}

PINION_DECL void shared_memory::end_loan(std::uint64_t bytes) {
  on_loan_ -= std::min(bytes, on_loan_);  // the other end may lie
  if (bytes > 0) share_->end_loan(bytes);
}

PINION_DECL shared_memory::uses::iterator shared_memory::take_back(uses::iterator one, uses& back) {
  end_use(one->second, one->second.on_loan);
  const auto next = std::next(one);
  back.insert(in_use_.extract(one));
  return next;
}

PINION_DECL void shared_memory::take_back_all(uses& back) {
  for (auto at = in_use_.begin(); at != in_use_.end();) at = is_back(at->first) ? take_back(at, back) : std::next(at);
}

PINION_DECL bool shared_memory::lends(std::uint64_t bytes, uses& back) {
  if (share_->lend(bytes)) return true;
  take_back_all(back);
  return share_->lend(bytes);
}

PINION_DECL void shared_memory::trim() {
  drop_gone();
  uses back;  // its owners go without the lock
  std::lock_guard hold(mutex_);
  std::erase_if(shown_, [this](const auto& one) {
    if (!one.second.slab.expired()) return false;
    shown_count_ -= {1, one.second.bytes};
    return true;
  });
  const bool was_busy = std::exchange(is_busy_, false);
  take_back_all(back);
  if (!back.empty()) is_trimmed_ = false;
  if (was_busy || std::exchange(is_trimmed_, true)) return;
  std::size_t first = 0;
  for (const auto& [next, use] : in_use_) {
    map_.give_back(first, next);
    first = next + use.count;
  }
  map_.give_back(first, touched_);
  touched_ = first;
}

PINION_DECL std::shared_ptr<std::byte> shared_memory::borrow(std::size_t first, std::uint64_t bytes) {
  map_.expect_pages(first, bytes);
  return {map_.bytes(map_.other(), first), [self = shared_from_this(), first](std::byte*) {
            self->map_.flag(self->map_.other(), first).store(1, std::memory_order_release);
          }};
}

PINION_DECL shared_memory::place::place(std::shared_ptr<shared_memory> of, std::size_t first)
    : of_(std::move(of)), first_(first), next_(of_->map_.bytes(of_->map_.mine(), first)) {}

PINION_DECL shared_memory::place::~place() {
  if (of_) of_->free(first_, held_);
}

PINION_DECL void shared_memory::place::put(std::span<const std::byte> bytes) {
  std::memcpy(next_, bytes.data(), bytes.size());
  next_ += bytes.size();
}

PINION_DECL std::uint16_t shared_memory::place::lend() {
  const auto of = std::exchange(of_, nullptr);
  if (owner_) of->keep_loan(first_, held_, std::move(owner_));
  return static_cast<std::uint16_t>(first_);
}

// ---- slabs

PINION_DECL void shared_memory::keep_loan(std::size_t first, std::uint64_t bytes, std::shared_ptr<const void> owner) {
  std::lock_guard hold(mutex_);
  const auto at = in_use_.find(first);
  if (at != in_use_.end())
    at->second = {1, bytes, std::move(owner)};
  else
    end_loan(bytes);  // the other end has given the page back before it was lent
}

PINION_DECL bool shared_memory::has_shown(const memory_slab& slab) const {
  std::lock_guard hold(mutex_);
  return shown_.count(slab.id()) > 0;
}

PINION_DECL void shared_memory::note_shown(const std::shared_ptr<const memory_slab>& slab) {
  std::lock_guard hold(mutex_);
  if (shown_.try_emplace(slab->id(), shown_here{slab, slab->bytes()}).second) shown_count_ += {1, slab->bytes()};
}

PINION_DECL bool shared_memory::may_show(const memory_slab& slab) const {
  const ring_words& told = map_.words(map_.other());
  const slab_count most{told.slabs.load(std::memory_order_relaxed) / 2,
                        told.slab_bytes.load(std::memory_order_relaxed) / 2};
  std::lock_guard hold(mutex_);
  return (shown_count_ + slab_count{1, slab.bytes()}).fits(most);
}

PINION_DECL shared_memory::place shared_memory::find_place(const place_in_slab& where, std::uint64_t bytes,
                                                           std::shared_ptr<const void> owner) {
  const told_place told{where.slab->id(), where.offset};
  place found = find_place(sizeof told);
  if (!found) return {};
  uses back;  // its owners go without the lock
  {
    std::lock_guard hold(mutex_);
    if (on_loan_ + bytes > capacity || !lends(bytes, back)) return {};
    on_loan_ += bytes;
  }
  found.put(std::as_bytes(std::span(&told, 1)));
  found.hold(std::move(owner), bytes);
  return found;
}

namespace detail {

inline const std::byte* map_to_read(int file, std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) throw no_shared_memory("mmap");
  return static_cast<const std::byte*>(at);
}

}  // namespace detail

PINION_DECL shared_memory::shown_slab::shown_slab(int file, std::size_t size, std::shared_ptr<void> as)
    : counted(std::move(as)), bytes(size), data(detail::map_to_read(file, size)) {}

PINION_DECL shared_memory::shown_slab::~shown_slab() {
  ::munmap(const_cast<std::byte*>(data), bytes);
}

PINION_DECL void shared_memory::drop_gone() {
  std::erase_if(shown_by_other_, [](const auto& one) { return one.second->first().is_gone.load() != 0; });
}

PINION_DECL bool shared_memory::end() {
  constexpr int at_once = 16;  // each takes some microseconds, and more where much of it was read
  share_->end();
  for (int i = 0; i < at_once && !shown_by_other_.empty(); ++i) shown_by_other_.erase(shown_by_other_.begin());
  return !shown_by_other_.empty();
}

PINION_DECL void shared_memory::take_shown(descriptor file) {
  const std::size_t bytes = detail::bytes_of_slab(file.get());
  if (!share_->has_room(bytes)) drop_gone();
  const auto slab = std::make_shared<const shown_slab>(file.get(), bytes, share_->count(bytes));
  shown_by_other_.insert_or_assign(slab->first().id, slab);
}

PINION_DECL std::shared_ptr<std::byte> shared_memory::borrow_shown(std::size_t first, std::uint64_t bytes) {
  map_.expect_pages(first, sizeof(told_place));
  told_place told;
  std::memcpy(&told, map_.bytes(map_.other(), first), sizeof told);
  const auto at = shown_by_other_.find(told.slab);
  if (at == shown_by_other_.end()) return nullptr;
  const auto& slab = at->second;
  if (told.offset % 64 != 0 || bytes > slab->bytes || told.offset > slab->bytes - bytes)
    throw error(errc::data_loss, std::to_string(bytes) + " bytes are said to lie at " + std::to_string(told.offset) +
                                     " of a slab of " + std::to_string(slab->bytes) + " bytes");
  return {const_cast<std::byte*>(slab->data) + told.offset, [self = shared_from_this(), first, slab](std::byte*) {
            self->map_.flag(self->map_.other(), first).store(1, std::memory_order_release);
          }};
}

}}}  // namespace pinion::v0::rpc
