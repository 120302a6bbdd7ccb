// Reads an event file, record by record, also one that is still being written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/train/summary/event.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Owns its place in the file. One thread at a time.
class event_file_reader {
 public:
  // Throws not_found where there is no file of that name.
  explicit event_file_reader(const std::filesystem::path& file);

  // The next event, or nothing at the end. A record of which a part is missing is the end too: asked again once the
  // file has grown, it comes. Throws data_loss, naming file and offset, where a checksum is wrong or a record is no
  // event; all that follows is then lost, and the next call throws again.
  std::optional<event> next();

  std::uint64_t offset() const { return offset_; }  // of the next record

 private:
  bool read(std::uint64_t from, std::string& to, std::uint64_t n);
  [[noreturn]] void fail(const std::string& what) const;

  std::filesystem::path path_;
  std::ifstream in_;
  std::uint64_t offset_ = 0;
};

// The event files of a directory, in the order in which readers take them: by name.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& dir);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/event_file_reader.ipp>
#endif
