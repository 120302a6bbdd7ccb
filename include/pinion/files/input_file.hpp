// A file to read from, at any offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>

namespace pinion { inline namespace v0 { namespace files {

// An open regular file. Owns its descriptor. Reading is thread-safe: it has no position. A file that is not there, or
// may not be read, is an error that names it; so is one that shrinks while it is read (data_loss).
class input_file {
 public:
  explicit input_file(const file_path& path);
  input_file(input_file&& o) noexcept
      : path_(std::move(o.path_)), descriptor_(std::exchange(o.descriptor_, -1)), size_(o.size_) {}
  input_file& operator=(input_file o) noexcept;
  ~input_file();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // in bytes, when it was opened

  // Exactly `bytes` bytes from `offset`. Requires: room for them at `to`.
  void read(std::uint64_t offset, void* to, std::size_t bytes) const;
  // As many of `bytes` bytes from `offset` as there are; returns how many.
  std::size_t read_some(std::uint64_t offset, void* to, std::size_t bytes) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/input_file.ipp>
#endif
