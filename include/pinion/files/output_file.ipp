// Bodies of <pinion/files/output_file.hpp>.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include <pinion/base/process.hpp>
#include <pinion/files/failure.hpp>
#include <pinion/files/folder.hpp>
#include <pinion/files/output_file.hpp>

namespace pinion { inline namespace v0 { namespace files {

namespace detail {
struct temporary_names {
  std::atomic<unsigned> given{0};
};
}  // namespace detail

PINION_DECL output_file::output_file(const file_path& path, readers who)
    : path_(path.text()), target_(absolute_path(path_).string()) {
  struct stat about {};  // otherwise the rename would replace a device, say, by a file
  if (::stat(path_.c_str(), &about) == 0 && !S_ISREG(about.st_mode))
    throw error(errc::invalid_argument, "cannot write " + path_ + ": it is there and no regular file");
  const mode_t mode = who == readers::owner ? 0600 : 0666;
  auto& given = of_this_process<detail::temporary_names>().given;
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = folder() + ".pinion-" + std::to_string(::getpid()) + "-" + std::to_string(++given) + ".tmp";
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const bool again = errno == EINTR || (errno == EEXIST && attempt < 1000);
    if (descriptor_ < 0 && !again) throw io_failure("write", path_, errno);
  }
}

PINION_DECL output_file::~output_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_) ::unlink(temporary_.c_str());
}

PINION_DECL void output_file::write_at(std::uint64_t offset, const void* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n =
        ::pwrite(descriptor_, static_cast<const char*>(from) + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw io_failure("write", path_, errno);
    done += static_cast<std::size_t>(n);
  }
}

PINION_DECL void output_file::write(const void* from, std::size_t bytes) {
  write_at(end_, from, bytes);
  end_ += bytes;
}

PINION_DECL void output_file::commit() {
  if (::fsync(descriptor_) != 0) throw io_failure("write", path_, errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) throw io_failure("write", path_, errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw io_failure("write", path_, errno);
  committed_ = true;
  sync_folder();
}

PINION_DECL std::string output_file::folder() const {
  return target_.substr(0, target_.rfind('/') + 1);
}

PINION_DECL void output_file::sync_folder() const {
  const int fd = ::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder may be open to writing and not to reading
  const int answer = ::fsync(fd), number = errno;
  ::close(fd);
  if (answer != 0 && number != EINVAL) throw io_failure("sync the folder of", path_, number);
}

PINION_DECL void write_file(const file_path& path, std::string_view text) {
  output_file file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}}}  // namespace pinion::v0::files
