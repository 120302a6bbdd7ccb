// Bodies of <pinion/files/input_file.hpp>.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pinion/files/failure.hpp>
#include <pinion/files/input_file.hpp>

namespace pinion { inline namespace v0 { namespace files {

PINION_DECL input_file::input_file(const file_path& path) : path_(path.text()) {
  do {  // O_NONBLOCK: a pipe that nobody writes to would block
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
  throw error(errc::invalid_argument, path_ + " is not a regular file");
}

PINION_DECL input_file& input_file::operator=(input_file o) noexcept {
  std::swap(path_, o.path_);
  std::swap(descriptor_, o.descriptor_);
  std::swap(size_, o.size_);
  return *this;
}

PINION_DECL input_file::~input_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

PINION_DECL void input_file::read(std::uint64_t offset, void* to, std::size_t bytes) const {
  if (read_some(offset, to, bytes) != bytes)
    throw error(errc::data_loss, path_ + " ended early: it shrank while it was read");
}

PINION_DECL std::size_t input_file::read_some(std::uint64_t offset, void* to, std::size_t bytes) const {
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

PINION_DECL std::string input_file::whole() const {
  std::string text(static_cast<std::size_t>(size_), ' ');
  read(0, text.data(), text.size());
  return text;
}

}}}  // namespace pinion::v0::files
