// A file to read from, at any offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>

namespace pinion { inline namespace v0 { namespace files {

// An open regular file, whose descriptor it owns. Several threads may read at once, since there is no position. The
// constructor throws not_found, permission_denied or another error of io_failure() that names the file, and
// invalid_argument if it is not a regular file. A file that shrinks while it is read is data_loss.
class input_file {
 public:
  explicit input_file(const file_path& path);
  // The source is then closed.
  input_file(input_file&& o) noexcept
      : path_(std::move(o.path_)), descriptor_(std::exchange(o.descriptor_, -1)), size_(o.size_) {}
  input_file& operator=(input_file o) noexcept;
  ~input_file();

  const std::string& path() const { return path_; }
  // The size in bytes when the file was opened.
  std::uint64_t size() const { return size_; }

  // Reads exactly `bytes` bytes from `offset` on. Throws data_loss if the file has fewer. Requires: `to` has room
  // for them.
  void read(std::uint64_t offset, void* to, std::size_t bytes) const;
  // Reads up to `bytes` bytes from `offset` on, and returns how many there were. It returns 0 at the end of the file.
  std::size_t read_some(std::uint64_t offset, void* to, std::size_t bytes) const;
  // Reads all bytes of the file. The caller looks at size() first: it takes as much memory.
  std::string whole() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/input_file.ipp>
#endif
