// Bodies of <pinion/files/safetensors_header.hpp>.
#pragma once

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <pinion/files/config.hpp>
#include <pinion/files/crc32c.hpp>
#include <pinion/files/safetensors_header.hpp>

#if PINION_HAS_JSON
#include <nlohmann/json.hpp>
#endif
namespace pinion { inline namespace v0 { namespace files {

PINION_DECL std::uint32_t checksum_of(const safetensors_header& header) {
  std::uint32_t crc = 0;
  const auto number = [&](std::uint64_t n) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(n >> (8 * i));
    crc = crc32c(bytes, 8, crc);
  };
  const auto text = [&](std::string_view s) {
    number(s.size());
    crc = crc32c(s, crc);
  };
  number(header.tensors.size());
  for (const stored_tensor& t : header.tensors) {
    text(t.name);
    text(t.format);
    number(static_cast<std::uint64_t>(t.extent.rank()));
    for (const std::int64_t d : t.extent.dims()) number(static_cast<std::uint64_t>(d));
  }
  for (const auto& [key, value] : header.metadata) {
    text(key);
    text(value);
  }
  return crc;
}

#if PINION_HAS_JSON
namespace detail {

inline constexpr std::string_view checksum_prefix = "crc32c:";
inline constexpr std::string_view metadata_name = "__metadata__";

// The size of an element in bits; 0 for a word that the format does not know.
inline unsigned safetensors_bits(std::string_view format) {
  static const std::map<std::string_view, unsigned> bits{
      {"BOOL", 8},        {"U8", 8},          {"I8", 8},      {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},
      {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
      {"I32", 32},        {"U32", 32},        {"F32", 32},    {"C64", 64},    {"F64", 64},    {"I64", 64},
      {"U64", 64},        {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}};
  const auto found = bits.find(format);
  return found == bits.end() ? 0 : found->second;
}

inline pinion::dtype dtype_of_format(std::string_view format) {
  for (unsigned i = 1; i < pinion::detail::dtype_count; ++i)
    if (format == safetensors_format(static_cast<pinion::dtype>(i))) return static_cast<pinion::dtype>(i);
  return pinion::dtype::invalid;
}

inline std::uint32_t parse_checksum(std::string_view hex, const std::string& file) {
  std::uint32_t value = 0;
  for (const char c : hex) {
    const bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
    if (hex.size() != 8 || !(digit || letter))
      throw error(errc::data_loss, file + " notes a checksum that is none: '" + std::string(hex) + "'");
    value = value << 4 | static_cast<std::uint32_t>(digit ? c - '0' : c - 'a' + 10);
  }
  if (hex.size() != 8) throw error(errc::data_loss, file + " notes a checksum that is none: ''");
  return value;
}

// Fills a header from the events of the parser. No tree is built, so nothing can nest deeper than the format does.
class safetensors_events final : public nlohmann::json_sax<nlohmann::json> {
 public:
  safetensors_events(safetensors_header& into, const std::string& file) : into_(into), file_(file) {}

  bool null() override { return other("null"); }
  bool boolean(bool) override { return other("a boolean"); }
  bool number_integer(std::int64_t) override { return other("a negative number"); }
  bool number_float(double, const std::string&) override { return other("a number with a fraction, or a huge one"); }
  bool binary(binary_t&) override { return other("binary data"); }
  bool number_unsigned(std::uint64_t n) override {
    if (at_ == place::shape) {
      if (n > std::uint64_t{1} << 62) refuse("has a dimension of " + std::to_string(n));
      if (tensor_.extent.rank() == pinion::shape::max_rank)
        throw error(errc::unimplemented,
                    file_ + ": tensor '" + key_ + "' has more than 8 dimensions, which is what a tensor of pinion has");
      tensor_.extent.push_back(static_cast<std::int64_t>(n));
    } else if (at_ == place::offsets) {
      if (offsets_ == 2) refuse("has more than two data_offsets");
      (offsets_++ == 0 ? tensor_.begin : tensor_.end) = n;
    } else {
      return other("a number");
    }
    return true;
  }
  bool string(std::string& text) override {
    if (at_ == place::metadata) {
      if (!notes_.emplace(note_, text).second) refuse("has the name '" + note_ + "' twice");
    } else if (at_ == place::tensor && field_ == "dtype") {
      tensor_.format = text;
    } else {
      return other("a text");
    }
    return true;
  }
  bool key(std::string& name) override {
    if (skipped_ > 0) return true;
    if (at_ == place::names) {
      key_ = name;
      if (!names_.insert(name).second) wrong("has the name '" + name + "' twice");
    } else if (at_ == place::metadata) {
      note_ = name;
    } else {
      field_ = name;
      if (!fields_.insert(name).second) refuse("has '" + name + "' twice");
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (skips(true)) return true;
    if (at_ == place::outside) {
      at_ = place::names;
    } else if (at_ == place::names) {
      at_ = key_ == metadata_name ? place::metadata : place::tensor;
      tensor_ = {};
      fields_.clear();
      offsets_ = 0;
    } else {
      return other("an object");
    }
    return true;
  }
  bool end_object() override {
    if (skips(false)) return true;
    if (at_ == place::tensor) finish_tensor();
    at_ = at_ == place::names ? place::outside : place::names;
    return true;
  }
  bool start_array(std::size_t) override {
    if (skips(true)) return true;
    if (at_ != place::tensor || (field_ != "shape" && field_ != "data_offsets")) return other("a list");
    at_ = field_ == "shape" ? place::shape : place::offsets;
    return true;
  }
  bool end_array() override {
    if (!skips(false)) at_ = place::tensor;
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) override {
    wrong("has a header that is no JSON (at byte " + std::to_string(at) + " of it)");
  }

  // Moves the checksums among the notes to the tensors and the header that they belong to.
  void deliver_notes() {
    std::map<std::string, std::uint32_t> checksums;
    for (auto& [key, value] : notes_) {
      if (key.starts_with(checksum_prefix))
        checksums.emplace(key.substr(checksum_prefix.size()), parse_checksum(value, file_));
      else
        into_.metadata.emplace(key, std::move(value));
    }
    if (checksums.empty()) return;
    const auto take = [&](const std::string& name) {
      const auto found = checksums.find(name);
      if (found == checksums.end()) wrong("notes checksums, but none of '" + name + "'");
      const std::uint32_t value = found->second;
      checksums.erase(found);
      return value;
    };
    into_.checksum = take(std::string(metadata_name));
    for (stored_tensor& t : into_.tensors) t.checksum = take(t.name);
    if (!checksums.empty()) wrong("notes a checksum of '" + checksums.begin()->first + "', which it does not hold");
  }

 private:
  enum class place { outside, names, metadata, tensor, shape, offsets };

  [[noreturn]] void wrong(const std::string& why) const { throw error(errc::data_loss, file_ + " " + why); }
  [[noreturn]] void refuse(const std::string& why) const {
    wrong("is damaged: " + (at_ == place::metadata ? std::string(metadata_name) : "tensor '" + key_ + "'") + " " + why);
  }
  // Meets a value of a kind that the format has nowhere. It is an error, except in fields that a later version of the
  // format may add.
  bool other(const std::string& what) {
    if (skipped_ > 0 || (at_ == place::tensor && unknown_field())) {
      if (skipped_ == 0 && (what == "an object" || what == "a list")) skipped_ = 1;
      return true;
    }
    if (at_ == place::outside) wrong("has a header that is no object but " + what);
    if (at_ == place::names) wrong("has " + what + " where '" + key_ + "' should be described");
    if (at_ == place::metadata) refuse("has " + what + " for '" + note_ + "', not a text");
    refuse("has " + what + " in its " + field_);
  }
  bool unknown_field() const { return field_ != "dtype" && field_ != "shape" && field_ != "data_offsets"; }
  // Counts the brackets inside a field that is ignored. Returns whether there is such a field.
  bool skips(bool opens) {
    if (skipped_ == 0) return false;
    skipped_ += opens ? 1 : -1;
    return true;
  }

  void finish_tensor() {
    for (const char* field : {"dtype", "shape", "data_offsets"})
      if (!fields_.contains(field)) refuse(std::string("has no ") + field);
    const unsigned bits = safetensors_bits(tensor_.format);
    if (bits == 0) refuse("has the dtype '" + tensor_.format + "', which the format does not know");
    if (offsets_ != 2) refuse("has fewer than two data_offsets");
    if (!countable(tensor_.extent)) refuse("has the shape " + to_string(tensor_.extent) + ", which nothing holds");
    const std::uint64_t all = static_cast<std::uint64_t>(tensor_.extent.count()) * bits;  // below 2^56 * 64
    const bool ordered = tensor_.begin <= tensor_.end;
    if (all % 8 != 0 || !ordered || tensor_.end - tensor_.begin != all / 8)
      refuse("takes the bytes " + std::to_string(tensor_.begin) + " to " + std::to_string(tensor_.end) +
             ", which do not fit " + tensor_.format + to_string(tensor_.extent));
    tensor_.name = key_;
    tensor_.type = dtype_of_format(tensor_.format);
    into_.tensors.push_back(std::move(tensor_));
  }

  safetensors_header& into_;
  const std::string& file_;
  place at_ = place::outside;
  std::int64_t skipped_ = 0;  // the open brackets within a field that is ignored
  std::string key_, note_, field_;
  std::set<std::string> names_, fields_;
  stored_tensor tensor_;
  int offsets_ = 0;
  std::map<std::string, std::string> notes_;
};

// Throws data_loss if the tensors leave a gap, overlap, or leave bytes at the end.
inline void check_cover(const safetensors_header& header, std::uint64_t data_bytes, const std::string& file) {
  std::uint64_t reached = 0;
  for (const stored_tensor& t : header.tensors) {
    if (t.begin != reached)
      throw error(errc::data_loss,
                  fmt::format("{} is damaged: tensor '{}' begins at byte {} of the elements, where the one before it "
                              "ends at {}",
                              file, t.name, t.begin, reached));
    reached = t.end;
  }
  if (reached != data_bytes)
    throw error(errc::data_loss, fmt::format("{} {}: its header describes {} bytes of elements, and there are {}", file,
                                             reached > data_bytes ? "is cut short" : "has bytes that belong to nothing",
                                             reached, data_bytes));
}

}  // namespace detail

PINION_DECL safetensors_header parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                                        const std::string& file) {
  // The parser would end at a NUL and skip a byte order mark, so both are refused here.
  if (json.find('\0') != std::string_view::npos || json.find_first_not_of(" \t\r\n") == std::string_view::npos ||
      json[json.find_first_not_of(" \t\r\n")] != '{')
    throw error(errc::data_loss, file + " is no safetensors file: its header is no JSON object");
  safetensors_header header;
  detail::safetensors_events events(header, file);
  nlohmann::json::sax_parse(json.begin(), json.end(), &events);
  // Stable: those without elements begin at one place, and the checksum counts them in the order of the file.
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const stored_tensor& a, const stored_tensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  detail::check_cover(header, data_bytes, file);
  events.deliver_notes();
  return header;
}

PINION_DECL std::string to_json(const safetensors_header& header) {
  const auto quoted = [](const std::string& text) {
    try {
      return nlohmann::json(text).dump();
    } catch (const nlohmann::json::exception&) {
      const std::string shown = nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
      throw error(errc::invalid_argument, "a name or note of a safetensors file is not UTF-8: " + shown);
    }
  };
  std::map<std::string, std::string> notes = header.metadata;
  const auto note_checksum = [&](const std::string& name, std::uint32_t value) {
    notes.emplace(std::string(detail::checksum_prefix) + name, fmt::format("{:08x}", value));
  };
  if (header.checksum) note_checksum(std::string(detail::metadata_name), *header.checksum);
  for (const stored_tensor& t : header.tensors)
    if (t.checksum) note_checksum(t.name, *t.checksum);

  std::string tensors;
  for (const stored_tensor& t : header.tensors)
    tensors += fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}},", quoted(t.name), t.format,
                           fmt::join(t.extent.dims(), ","), t.begin, t.end);
  std::string json = "{";
  if (!notes.empty()) {
    json += quoted(std::string(detail::metadata_name)) + ":{";
    for (const auto& [key, value] : notes) json += quoted(key) + ":" + quoted(value) + ",";
    json.back() = '}';
    json += ",";
  }
  json += tensors;
  if (json.size() > 1) json.pop_back();
  json += "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  return json;
}
#else
namespace detail {
[[noreturn]] inline void say_without_json(const std::string& what) {
  throw error(errc::unimplemented,
              what +
                  " needs nlohmann-json, and pinion was built without (Debian, Ubuntu: apt-get install "
                  "nlohmann-json3-dev)");
}
}  // namespace detail

PINION_DECL safetensors_header parse_safetensors_header(std::string_view, std::uint64_t, const std::string& file) {
  detail::say_without_json("to read " + file);
}
PINION_DECL std::string to_json(const safetensors_header&) {
  detail::say_without_json("to write a safetensors file");
}
#endif

}}}  // namespace pinion::v0::files
