// Bodies of <pinion/files/idx.hpp>.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pinion/files/config.hpp>
#include <pinion/files/elements.hpp>
#include <pinion/files/idx.hpp>
#include <pinion/files/input_file.hpp>

#if PINION_HAS_ZLIB
#include <zlib.h>
#endif
namespace pinion { inline namespace v0 { namespace files {

namespace detail {

// The header of an IDX file: what its first bytes announce.
struct idx_header {
  stored_element element;
  shape extent;
  std::size_t bytes = 0;  // the size of the header
};

[[noreturn]] inline void refuse_idx(const std::string& file, const std::string& why) {
  throw error(errc::data_loss, file + " " + why);
}

inline std::optional<stored_element> idx_element(unsigned type) {
  using kind = stored_element::kind;
  switch (type) {
    case 0x08: return stored_element{kind::unsigned_integer, 1, true};
    case 0x09: return stored_element{kind::signed_integer, 1, true};
    case 0x0b: return stored_element{kind::signed_integer, 2, true};
    case 0x0c: return stored_element{kind::signed_integer, 4, true};
    case 0x0d: return stored_element{kind::floating, 4, true};
    case 0x0e: return stored_element{kind::floating, 8, true};
    default: return std::nullopt;
  }
}

// Parses the header out of the first bytes of a file, 36 of them at most.
inline idx_header parse_idx_header(const std::vector<std::byte>& b, const std::string& file) {
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(b[i]); };
  if (b.size() < 4) refuse_idx(file, "is cut short: " + std::to_string(b.size()) + " bytes do not hold its header");
  const auto element = idx_element(at(2));
  if (at(0) != 0 || at(1) != 0 || !element || at(3) < 1 || at(3) > shape::max_rank)
    refuse_idx(file, "is no IDX file of 1 to 8 dimensions");
  idx_header h{*element, {}, 4 + 4 * std::size_t{at(3)}};
  if (b.size() < h.bytes)
    refuse_idx(file, "is cut short: " + std::to_string(b.size()) + " bytes do not hold its header");
  for (std::size_t i = 4; i < h.bytes; i += 4)
    h.extent.push_back(std::int64_t{at(i)} << 24 | at(i + 1) << 16 | at(i + 2) << 8 | at(i + 3));
  return h;
}

// The content of a file, unpacked if it is compressed. Memory grows with the bytes that are there, not with the
// number that the header announces.
class idx_content {
 public:
  explicit idx_content(const file_path& path) : name_(path.text()), file_(path) {
    unsigned char magic[2]{};
    packed_ = file_.read_some(0, magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
#if PINION_HAS_ZLIB
    if (!packed_) return;
    unpacked_.reset(gzopen(name_.c_str(), "rb"));
    if (!unpacked_) throw error(errc::resource_exhausted, "cannot open " + name_ + " with zlib");
#else
    if (packed_)
      throw error(errc::unimplemented, name_ +
                                           " is compressed by gzip, and pinion was built without zlib (Debian, "
                                           "Ubuntu: apt-get install zlib1g-dev), or gunzip it");
#endif
  }

  // Reads until `into` holds `most` bytes, or all there are.
  void grow_to(std::uint64_t most, std::vector<std::byte>& into) {
    constexpr std::uint64_t chunk = 1 << 20;
    while (into.size() < most) {
      const std::size_t had = into.size(), more = static_cast<std::size_t>(std::min(chunk, most - had));
      into.resize(had + more);
      const std::size_t got = read(had, into.data() + had, more);
      into.resize(had + got);
      if (got == 0) return;
    }
  }

 private:
  std::size_t read([[maybe_unused]] std::uint64_t at, std::byte* to, std::size_t bytes) {
#if PINION_HAS_ZLIB
    if (packed_) {
      const int got = gzread(unpacked_.get(), to, static_cast<unsigned>(bytes));
      int status = Z_OK;
      const char* why = gzerror(unpacked_.get(), &status);
      if (got < 0 || status != Z_OK) refuse_idx(name_, std::string("is damaged or cut short: ") + why);
      return static_cast<std::size_t>(got);
    }
#endif
    return file_.read_some(at, to, bytes);
  }

  std::string name_;
  input_file file_;
  bool packed_ = false;
#if PINION_HAS_ZLIB
  struct closer {
    void operator()(gzFile_s* f) const { gzclose_r(f); }
  };
  std::unique_ptr<gzFile_s, closer> unpacked_;
#endif
};

}  // namespace detail

PINION_DECL any_tensor read_idx(const file_path& path) {
  const std::string& name = path.text();
  detail::idx_content content(path);
  std::vector<std::byte> bytes;
  content.grow_to(4 + 4 * std::uint64_t{shape::max_rank}, bytes);
  const detail::idx_header h = detail::parse_idx_header(bytes, name);

  const bool sane = countable(h.extent);
  const std::uint64_t items = sane ? static_cast<std::uint64_t>(h.extent.count()) : std::uint64_t{1} << 56;
  const std::uint64_t wanted = items * h.element.bytes;
  content.grow_to(h.bytes + wanted, bytes);
  if (bytes.size() < h.bytes + wanted)
    detail::refuse_idx(name, "is cut short: it announces more items than the " +
                                 std::to_string((bytes.size() - h.bytes) / h.element.bytes) + " it has");
  constexpr std::uint64_t enough = 1 << 16;  // surplus bytes are counted up to this number
  content.grow_to(h.bytes + wanted + enough, bytes);
  const std::uint64_t more = bytes.size() - h.bytes - wanted;
  if (more > 0)
    detail::refuse_idx(
        name, "has " + std::to_string(more) + (more == enough ? " or more" : "") + " bytes more than it announces");
  return decode_elements(h.element, h.extent, bytes.data() + h.bytes, name);
}

}}}  // namespace pinion::v0::files
