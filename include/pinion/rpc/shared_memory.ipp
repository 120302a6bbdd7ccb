// Bodies of <pinion/rpc/shared_memory.hpp>.
#pragma once

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/rpc/asio_io.hpp>
#include <pinion/rpc/shared_memory.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

// Each end has so many bytes of the memory: those by which the other gives pages back, then the pages.
inline constexpr std::size_t size_of_end = shared_memory::pages + shared_memory::capacity;
inline constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

inline error no_shared_memory(const char* call) {
  return error(errc::unavailable, std::string("the system shares no memory: ") + call + ": " + std::strerror(errno));
}

// Throws unless no access to the file's bytes can fail.
inline void expect_sealed(int file) {
  struct stat is {};
  struct statfs where {};
  const bool regular = ::fstat(file, &is) == 0 && S_ISREG(is.st_mode) && ::fstatfs(file, &where) == 0;
  if (!regular || where.f_type != TMPFS_MAGIC)
    throw error(errc::data_loss, "the client gives a file to share that is not in memory");
  if (is.st_size != static_cast<off_t>(2 * size_of_end))
    throw error(errc::data_loss, "the client gives memory of " + std::to_string(is.st_size) +
                                     " bytes to share, where it has " + std::to_string(2 * size_of_end));
  const int has = ::fcntl(file, F_GET_SEALS);
  if (has < 0 || (has & seals) != seals || (has & F_SEAL_WRITE) != 0)
    throw error(errc::data_loss, "the client gives memory to share that it could take away again: it is not sealed");
}

}  // namespace detail

PINION_DECL descriptor::~descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

PINION_DECL std::shared_ptr<shared_memory> shared_memory::make() {
  descriptor file(::memfd_create("pinion", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) throw detail::no_shared_memory("memfd_create");
  if (::ftruncate(file.get(), static_cast<off_t>(2 * detail::size_of_end)) != 0)
    throw detail::no_shared_memory("ftruncate");
  if (::fcntl(file.get(), F_ADD_SEALS, detail::seals) != 0) throw detail::no_shared_memory("F_ADD_SEALS");
  return std::shared_ptr<shared_memory>(new shared_memory(std::move(file), side::client));
}

PINION_DECL std::shared_ptr<shared_memory> shared_memory::adopt(descriptor file) {
  detail::expect_sealed(file.get());
  std::shared_ptr<shared_memory> made(new shared_memory(std::move(file), side::server));
  made->file_ = descriptor();
  return made;
}

PINION_DECL shared_memory::shared_memory(descriptor file, side mine) : file_(std::move(file)), mine_(mine) {
  void* const at = ::mmap(nullptr, 2 * detail::size_of_end, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (at == MAP_FAILED) throw detail::no_shared_memory("mmap");
  begin_ = static_cast<std::byte*>(at);
}

PINION_DECL shared_memory::~shared_memory() {
  if (begin_) ::munmap(begin_, 2 * detail::size_of_end);
}

PINION_DECL std::byte* shared_memory::of(side end) const {
  return begin_ + (end == side::client ? 0 : detail::size_of_end);
}

PINION_DECL shared_memory::returned& shared_memory::flag(side end, std::size_t first) const {
  return *reinterpret_cast<returned*>(of(end) + first);
}

PINION_DECL std::byte* shared_memory::bytes(side end, std::size_t first) const {
  return of(end) + pages + first * page;
}

PINION_DECL shared_memory::place shared_memory::find_place(std::uint64_t bytes) {
  if (bytes == 0 || bytes > capacity) return {};
  const std::size_t count = (static_cast<std::size_t>(bytes) + page - 1) / page;
  std::lock_guard hold(mutex_);
  is_busy_ = true;
  is_trimmed_ = false;
  // The first room that is large enough: low pages were used before, and need not be found by the system.
  std::size_t first = 0;
  for (auto at = in_use_.begin(); at != in_use_.end() && at->first - first < count;) {
    const bool is_back = flag(mine_, at->first).load(std::memory_order_acquire) != 0;
    if (!is_back) first = at->first + at->second;
    at = is_back ? in_use_.erase(at) : std::next(at);
  }
  if (first + count > pages) return {};
  flag(mine_, first).store(0, std::memory_order_relaxed);
  in_use_.emplace(first, count);
  touched_ = std::max(touched_, first + count);
  return place(shared_from_this(), first);
}

PINION_DECL void shared_memory::free(std::size_t first) {
  std::lock_guard hold(mutex_);
  in_use_.erase(first);
}

PINION_DECL void shared_memory::trim() {
  std::lock_guard hold(mutex_);
  const bool was_busy = std::exchange(is_busy_, false);
  const auto back = std::erase_if(
      in_use_, [this](const auto& one) { return flag(mine_, one.first).load(std::memory_order_acquire) != 0; });
  if (back > 0) is_trimmed_ = false;
  if (was_busy || std::exchange(is_trimmed_, true)) return;
  std::size_t first = 0;
  for (const auto& [next, count] : in_use_) {
    give_back(first, next);
    first = next + count;
  }
  give_back(first, touched_);
  touched_ = first;
}

PINION_DECL void shared_memory::give_back(std::size_t first, std::size_t end) {
  constexpr std::uintptr_t whole = std::uintptr_t{64} << 10;  // no system has larger pages
  const auto from = (reinterpret_cast<std::uintptr_t>(bytes(mine_, first)) + whole - 1) / whole * whole;
  const auto to = reinterpret_cast<std::uintptr_t>(bytes(mine_, end)) / whole * whole;
  if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_REMOVE);
}

PINION_DECL std::shared_ptr<std::byte> shared_memory::borrow(std::size_t first, std::uint64_t bytes) {
  if (bytes > capacity || first > pages || first * page + bytes > capacity)
    throw error(errc::data_loss, std::to_string(bytes) + " bytes are said to lie in shared memory from its page " +
                                     std::to_string(first) + " on, and it has " + std::to_string(pages) + " pages");
  return {this->bytes(other(), first), [self = shared_from_this(), first](std::byte*) {
            self->flag(self->other(), first).store(1, std::memory_order_release);
          }};
}

PINION_DECL shared_memory::place::place(std::shared_ptr<shared_memory> of, std::size_t first)
    : of_(std::move(of)), first_(first), next_(of_->bytes(of_->mine_, first)) {}

PINION_DECL shared_memory::place::~place() {
  if (of_) of_->free(first_);
}

PINION_DECL void shared_memory::place::put(std::span<const std::byte> bytes) {
  std::memcpy(next_, bytes.data(), bytes.size());
  next_ += bytes.size();
}

PINION_DECL std::uint16_t shared_memory::place::lend() {
  of_ = nullptr;
  return static_cast<std::uint16_t>(first_);
}

}}}  // namespace pinion::v0::rpc
