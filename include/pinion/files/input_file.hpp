// A file to read from, at any offset.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include <pinion/files/failure.hpp>

namespace pinion::inline v0::files {

// An open regular file. Owns its descriptor. Reading is thread-safe: it has no position. A file that is not there, or
// may not be read, is an error that names it; so is one that shrinks while it is read (data_loss).
class input_file {
 public:
  explicit input_file(std::filesystem::path path) : path_(std::move(path)) {
    do {  // a pipe that nobody writes to would block without O_NONBLOCK
      descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) throw io_failure("open", path_, errno);
    struct stat about {};
    const int answer = ::fstat(descriptor_, &about);
    if (answer == 0 && S_ISREG(about.st_mode)) {
      size_ = static_cast<std::uint64_t>(about.st_size);
      return;
    }
    const int number = errno;
    ::close(descriptor_);
    if (answer != 0) throw io_failure("look at", path_, number);
    throw error(errc::invalid_argument, path_.string() + " is not a regular file");
  }
  input_file(input_file&& o) noexcept
      : path_(std::move(o.path_)), descriptor_(std::exchange(o.descriptor_, -1)), size_(o.size_) {}
  input_file& operator=(input_file o) noexcept {
    std::swap(path_, o.path_);
    std::swap(descriptor_, o.descriptor_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~input_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // in bytes, when it was opened

  // Exactly `bytes` bytes from `offset`. Requires: room for them at `to`.
  void read(std::uint64_t offset, void* to, std::size_t bytes) const {
    if (read_some(offset, to, bytes) != bytes)
      throw error(errc::data_loss, path_.string() + " ended early: it shrank while it was read");
  }
  // As many of `bytes` bytes from `offset` as there are; returns how many.
  std::size_t read_some(std::uint64_t offset, void* to, std::size_t bytes) const {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t n =
          ::pread(descriptor_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw io_failure("read", path_, errno);
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace pinion::inline v0::files
