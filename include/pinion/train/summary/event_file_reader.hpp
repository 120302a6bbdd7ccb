// Reads an event file record by record, also while it is being written.
//
//   for (const auto& path : tr::event_files("logs")) {
//     tr::event_file_reader file(path);
//     while (auto e = file.next())
//       for (const auto& point : tr::scalars_of(*e)) fmt::print("{} {} {}\n", e->step, point.tag, point.value);
//   }
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

// An open event file and the position in it, which it owns. For one thread at a time.
class event_file_reader {
 public:
  // Throws not_found if there is no readable file of that name.
  explicit event_file_reader(const std::filesystem::path& file);

  // The next event, or nothing at the end. A record that is not complete yet is the end, too; once the file has grown,
  // the next call returns it. Throws data_loss, naming file and offset, if a checksum is wrong or a record is no
  // event; what follows is lost then, and the next call throws again.
  std::optional<event> next();

  // The offset of the next record in the file, in bytes.
  std::uint64_t offset() const { return offset_; }

 private:
  bool read(std::uint64_t from, std::string& to, std::uint64_t n);
  [[noreturn]] void fail(const std::string& what) const;

  std::filesystem::path path_;
  std::ifstream in_;
  std::uint64_t offset_ = 0;
};

// The event files of a directory, by name: the order in which readers take them. Throws not_found if the directory
// cannot be listed.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& dir);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/event_file_reader.ipp>
#endif
