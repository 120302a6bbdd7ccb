// Bodies of <pinion/train/summary/event_file_reader.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/error.hpp>
#include <pinion/train/summary/event_file_reader.hpp>
#include <pinion/train/summary/record.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL event_file_reader::event_file_reader(const std::filesystem::path& file)
    : path_(file), in_(file, std::ios::binary) {
  std::error_code ignored;
  if (!in_ || std::filesystem::is_directory(file, ignored))
    throw error(errc::not_found, "cannot read event file '" + file.string() + "'");
}

inline void event_file_reader::fail(const std::string& what) const {
  throw error(errc::data_loss,
              what + " in event file '" + path_.string() + "', in the record at offset " + std::to_string(offset_));
}

// Reads n bytes if the file has them. Nothing is allocated before that is known.
inline bool event_file_reader::read(std::uint64_t from, std::string& to, std::uint64_t n) {
  in_.clear();
  in_.seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(in_.tellg());
  if (from > size || n > size - from) return false;
  to.resize(n);
  in_.seekg(static_cast<std::streamoff>(from));
  in_.read(to.data(), static_cast<std::streamsize>(n));
  return static_cast<std::uint64_t>(in_.gcount()) == n;
}

PINION_DECL std::optional<event> event_file_reader::next() {
  std::string head, rest;
  for (;;) {
    if (!read(offset_, head, record_head)) return std::nullopt;
    const std::string_view view = head;
    if (detail::little_endian<std::uint32_t>(view.substr(8)) != masked_crc32c(view.substr(0, 8)))
      fail("a wrong checksum of a length");
    const auto n = detail::little_endian<std::uint64_t>(view);
    if (n > UINT64_MAX - record_tail || !read(offset_ + record_head, rest, n + record_tail)) return std::nullopt;
    const std::string_view payload = std::string_view(rest).substr(0, n);
    if (detail::little_endian<std::uint32_t>(std::string_view(rest).substr(n)) != masked_crc32c(payload))
      fail("a wrong checksum");
    const std::uint64_t after = offset_ + record_head + n + record_tail;
    if (n == 0) {  // the record of an empty event is skipped
      offset_ = after;
      continue;
    }
    try {
      event e = decode_event(payload);
      offset_ = after;
      return e;
    } catch (const error& e) {
      if (e.code() != errc::data_loss) throw;
      fail(e.sentence());
    }
  }
}

PINION_DECL std::vector<std::filesystem::path> event_files(const std::filesystem::path& dir) {
  std::vector<std::filesystem::path> found;
  std::error_code trouble;
  for (std::filesystem::directory_iterator at(dir, trouble), end; !trouble && at != end; at.increment(trouble))
    if (at->path().filename().string().find("tfevents") != std::string::npos) found.push_back(at->path());
  if (trouble) throw error(errc::not_found, "cannot list '" + dir.string() + "': " + trouble.message());
  std::sort(found.begin(), found.end());
  return found;
}

}}}  // namespace pinion::v0::train
