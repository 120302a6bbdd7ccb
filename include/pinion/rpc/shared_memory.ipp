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
#include <cstring>
#include <string>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/rpc/asio_io.hpp>
#include <pinion/rpc/shared_memory.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

inline constexpr std::size_t ring_head = 4096, ring_size = ring_head + shared_memory::capacity;
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
  if (is.st_size != static_cast<off_t>(2 * ring_size))
    throw error(errc::data_loss, "the client gives memory of " + std::to_string(is.st_size) +
                                     " bytes to share, where it has " + std::to_string(2 * ring_size));
  const int has = ::fcntl(file, F_GET_SEALS);
  if (has < 0 || (has & seals) != seals || (has & F_SEAL_WRITE) != 0)
    throw error(errc::data_loss, "the client gives memory to share that it could take away again: it is not sealed");
}

}  // namespace detail

PINION_DECL descriptor::~descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

PINION_DECL std::unique_ptr<shared_memory> shared_memory::make() {
  descriptor file(::memfd_create("pinion", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) throw detail::no_shared_memory("memfd_create");
  if (::ftruncate(file.get(), static_cast<off_t>(2 * detail::ring_size)) != 0)
    throw detail::no_shared_memory("ftruncate");
  if (::fcntl(file.get(), F_ADD_SEALS, detail::seals) != 0) throw detail::no_shared_memory("F_ADD_SEALS");
  return std::unique_ptr<shared_memory>(new shared_memory(std::move(file), side::client));
}

PINION_DECL std::unique_ptr<shared_memory> shared_memory::adopt(descriptor file) {
  detail::expect_sealed(file.get());
  std::unique_ptr<shared_memory> made(new shared_memory(std::move(file), side::server));
  made->file_ = descriptor();
  return made;
}

PINION_DECL shared_memory::shared_memory(descriptor file, side mine) : file_(std::move(file)), mine_(mine) {
  void* const at = ::mmap(nullptr, 2 * detail::ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (at == MAP_FAILED) throw detail::no_shared_memory("mmap");
  begin_ = static_cast<std::byte*>(at);
}

PINION_DECL shared_memory::~shared_memory() {
  if (begin_) ::munmap(begin_, 2 * detail::ring_size);
}

PINION_DECL shared_memory::ring& shared_memory::of(side writer) const {
  return *reinterpret_cast<ring*>(begin_ + (writer == side::client ? 0 : detail::ring_size));
}

PINION_DECL std::byte* shared_memory::bytes_of(side writer) const {
  return reinterpret_cast<std::byte*>(&of(writer)) + detail::ring_head;
}

PINION_DECL bool shared_memory::put(std::span<const asio::const_buffer> bytes) {
  const std::uint64_t gone = of(mine_).taken.load(std::memory_order_acquire), held = put_ - gone;
  if (gone > put_ || held > capacity || asio::buffer_size(bytes) > capacity - held) return false;  // the peer may lie
  std::byte* const to = bytes_of(mine_);
  for (asio::const_buffer one : bytes)
    while (one.size() > 0) {
      const std::size_t at = put_ % capacity, n = std::min(one.size(), capacity - at);
      std::memcpy(to + at, one.data(), n);
      put_ += n;
      one += n;
    }
  return true;
}

PINION_DECL void shared_memory::take(std::span<std::byte> into) {
  const std::byte* const from = bytes_of(other());
  while (!into.empty()) {
    const std::size_t at = taken_ % capacity, n = std::min(into.size(), capacity - at);
    std::memcpy(into.data(), from + at, n);
    into = into.subspan(n);
    pass_over(n);
  }
}

PINION_DECL void shared_memory::pass_over(std::uint64_t bytes) {
  taken_ += bytes;
  of(other()).taken.store(taken_, std::memory_order_release);
}

}}}  // namespace pinion::v0::rpc
