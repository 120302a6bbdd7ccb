// A file that appears under its name whole, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>

namespace pinion { inline namespace v0 { namespace files {

// Who may read a file that is written: those whom the umask of the process lets, or its user alone.
enum class readers { by_umask, owner };

// Writes to a temporary file beside the final one (".pinion-PID-N.tmp"; a killed program leaves it behind). commit()
// brings the bytes to the disk and then gives them the final name. Without commit() the destructor removes the
// temporary file, and an earlier file of that name stays. It owns its descriptor. For one thread at a time.
//
// Errors are those of io_failure() and name the file: a full disk or quota is resource_exhausted, a folder that does
// not exist not_found, one without rights permission_denied. A name that something else than a regular file has is
// invalid_argument.
//
//   pn::files::output_file out("notes.txt");
//   out.write(text.data(), text.size());
//   out.commit();                                  // from here on "notes.txt" is the new file
class output_file {
 public:
  // The temporary file is made at once, so a folder without rights is noticed before anything is computed.
  explicit output_file(const file_path& path, readers who = readers::by_umask);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  const std::string& path() const { return path_; }

  // Writes bytes at an offset. Gaps that are left read as zeros.
  void write_at(std::uint64_t offset, const void* from, std::size_t bytes);
  // Writes bytes behind those that write() has written before.
  void write(const void* from, std::size_t bytes);

  // Makes the file appear. Requires: nothing is written afterwards. It calls fsync, then rename, then fsync of the
  // folder, so that after a power cut either file is there in whole.
  void commit();

 private:
  std::string folder() const;
  // Brings the new name to the disk, which is not safe before its folder is. File systems that have no such call are
  // left alone.
  void sync_folder() const;

  std::string path_;                // as it was given
  std::string target_, temporary_;  // from the root on
  int descriptor_ = -1;
  std::uint64_t end_ = 0;
  bool committed_ = false;
};

// Writes a file with a text. Errors are those of output_file.
void write_file(const file_path& path, std::string_view text);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/output_file.ipp>
#endif
