// A file that appears under its name whole, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>

namespace pinion { inline namespace v0 { namespace files {

// Writes to a temporary name in the folder of the final one (".pinion-PID-N.tmp"; a killed program leaves it behind).
// commit() brings the bytes to the disk, then gives them the name; without it the destructor removes them, and what had
// the name keeps it. One thread at a time. An I/O error names the file; a full disk or quota is resource_exhausted.
class output_file {
 public:
  explicit output_file(const file_path& path);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  const std::string& path() const { return path_; }

  void write_at(std::uint64_t offset, const void* from, std::size_t bytes);
  // At the end of what was written so.
  void write(const void* from, std::size_t bytes);

  // Nothing may be written afterwards.
  void commit();

 private:
  std::string folder() const;
  // The new name is safe only when the folder is. Some file systems have no such call.
  void sync_folder() const;

  std::string path_, temporary_;
  int descriptor_ = -1;
  std::uint64_t end_ = 0;
  bool committed_ = false;
};

// A file of that text. Errors: see output_file.
void write_file(const file_path& path, std::string_view text);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/output_file.ipp>
#endif
