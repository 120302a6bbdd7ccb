// Bodies of <pinion/rpc/shared_memory/shared_mapping.hpp>.
#pragma once

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <pinion/rpc/shared_memory/shared_mapping.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

inline constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

PINION_DECL error no_shared_memory(const char* call) {
  return error(errc::unavailable, std::string("the system shares no memory: ") + call + ": " + std::strerror(errno));
}

PINION_DECL std::size_t expect_sealed(int file, int with, int without) {
  struct stat is {};
  struct statfs where {};
  const bool regular = ::fstat(file, &is) == 0 && S_ISREG(is.st_mode) && ::fstatfs(file, &where) == 0;
  if (!regular || where.f_type != TMPFS_MAGIC)
    throw error(errc::data_loss, "the peer gives a file to share that is not in memory");
  const int has = ::fcntl(file, F_GET_SEALS);
  if (has < 0 || (has & with) != with || (has & without) != 0)
    throw error(errc::data_loss, "the peer gives memory to share that it could take away again: it is not sealed");
  return static_cast<std::size_t>(is.st_size);
}

inline void expect_memory_of_connection(int file) {
  const std::size_t bytes = expect_sealed(file, seals, F_SEAL_WRITE);
  if (bytes != 2 * shared_mapping::end_bytes)
    throw error(errc::data_loss, "the peer gives memory of " + std::to_string(bytes) +
                                     " bytes to share, where it has " + std::to_string(2 * shared_mapping::end_bytes));
}

inline descriptor make_memory_file() {
  descriptor file(::memfd_create("pinion", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) throw no_shared_memory("memfd_create");
  if (::ftruncate(file.get(), static_cast<off_t>(2 * shared_mapping::end_bytes)) != 0)
    throw no_shared_memory("ftruncate");
  if (::fcntl(file.get(), F_ADD_SEALS, seals) != 0) throw no_shared_memory("F_ADD_SEALS");
  return file;
}

}  // namespace detail

PINION_DECL descriptor::~descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

PINION_DECL shared_mapping::shared_mapping() : file_(detail::make_memory_file()), mine_(side::client) {
  map();
}

PINION_DECL shared_mapping::shared_mapping(descriptor file) : file_(std::move(file)), mine_(side::server) {
  detail::expect_memory_of_connection(file_.get());
  map();
  close_file();
}

PINION_DECL void shared_mapping::map() {
  void* const at = ::mmap(nullptr, 2 * end_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (at == MAP_FAILED) throw detail::no_shared_memory("mmap");
  begin_ = static_cast<std::byte*>(at);
}

PINION_DECL shared_mapping::~shared_mapping() {
  ::munmap(begin_, 2 * end_bytes);
}

PINION_DECL std::byte* shared_mapping::bytes(side end, std::size_t first) const {
  return ring(end) + ring_end::capacity + pages + first * page;
}

PINION_DECL shared_mapping::returned& shared_mapping::flag(side end, std::size_t first) const {
  return *reinterpret_cast<returned*>(ring(end) + ring_end::capacity + first);
}

PINION_DECL void shared_mapping::expect_pages(std::size_t first, std::uint64_t bytes) {
  if (bytes > capacity || first > pages || first * page + bytes > capacity)
    throw error(errc::data_loss, std::to_string(bytes) + " bytes are said to lie in shared memory from its page " +
                                     std::to_string(first) + " on, and it has " + std::to_string(pages) + " pages");
}

PINION_DECL void shared_mapping::give_back(std::size_t first, std::size_t end) const {
  constexpr std::uintptr_t whole = std::uintptr_t{64} << 10;  // no system has larger pages
  const auto from = (reinterpret_cast<std::uintptr_t>(bytes(mine_, first)) + whole - 1) / whole * whole;
  const auto to = reinterpret_cast<std::uintptr_t>(bytes(mine_, end)) / whole * whole;
  if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_REMOVE);
}

}}}  // namespace pinion::v0::rpc
