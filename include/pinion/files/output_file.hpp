// A file that appears under its name whole, or not at all.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/files/failure.hpp>

namespace pinion::inline v0::files {

// Writes to a temporary name in the folder of the final one (".pinion-PID-N.tmp"; a killed program leaves it behind).
// commit() brings the bytes to the disk, then gives them the name; without it the destructor removes them, and what had
// the name keeps it. One thread at a time. An I/O error names the file; a full disk or quota is resource_exhausted.
class output_file {
 public:
  explicit output_file(std::filesystem::path path) : path_(std::move(path)) {
    struct stat about {};  // or the rename would replace a device, say, by a file
    if (::stat(path_.c_str(), &about) == 0 && !S_ISREG(about.st_mode))
      throw error(errc::invalid_argument, "cannot write " + path_.string() + ": it is there and no regular file");
    static std::atomic<unsigned> counter{0};
    for (int attempt = 0; descriptor_ < 0; ++attempt) {
      temporary_ = folder() / (".pinion-" + std::to_string(::getpid()) + "-" + std::to_string(++counter) + ".tmp");
      descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      const bool again = errno == EINTR || (errno == EEXIST && attempt < 1000);
      if (descriptor_ < 0 && !again) throw io_failure("write", path_, errno);
    }
  }
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!committed_) ::unlink(temporary_.c_str());
  }

  const std::filesystem::path& path() const { return path_; }

  void write_at(std::uint64_t offset, const void* from, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t n =
          ::pwrite(descriptor_, static_cast<const char*>(from) + done, bytes - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw io_failure("write", path_, errno);
      done += static_cast<std::size_t>(n);
    }
  }
  // At the end of what was written so.
  void write(const void* from, std::size_t bytes) {
    write_at(end_, from, bytes);
    end_ += bytes;
  }

  // Nothing may be written afterwards.
  void commit() {
    if (::fsync(descriptor_) != 0) throw io_failure("write", path_, errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) throw io_failure("write", path_, errno);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw io_failure("write", path_, errno);
    committed_ = true;
    sync_folder();
  }

 private:
  std::filesystem::path folder() const { return path_.has_parent_path() ? path_.parent_path() : "."; }
  // The new name is safe only when the folder is. Some file systems have no such call.
  void sync_folder() const {
    const int fd = ::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;  // a folder that may be written to and not read
    const int answer = ::fsync(fd), number = errno;
    ::close(fd);
    if (answer != 0 && number != EINVAL) throw io_failure("sync the folder of", path_, number);
  }

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  std::uint64_t end_ = 0;
  bool committed_ = false;
};

// A file of that text. Errors: see output_file.
inline void write_file(const std::filesystem::path& path, std::string_view text) {
  output_file file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace pinion::inline v0::files
