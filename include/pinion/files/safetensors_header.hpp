// The header of a safetensors file: what tensors there are, of what, where, and what was noted about them.
//
//   N (8 bytes, little-endian) | N bytes of JSON | the elements, row-major, little-endian, without gaps
//
// Beyond the format pinion notes checksums under names of `__metadata__`, where other readers pass over them:
// "crc32c:NAME" is the CRC-32C of a tensor's bytes, "crc32c:__metadata__" that of all the header says apart from
// checksums (so a flipped bit in a name, a dtype or a step count is found too).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 { namespace files {

// One tensor of a file. A value.
struct stored_tensor {
  std::string name;
  std::string format;                           // the file's word for the dtype: "F32"
  pinion::dtype type = pinion::dtype::invalid;  // invalid: elements that pinion has no type for
  pinion::shape extent;
  std::uint64_t begin = 0, end = 0;       // its bytes, counted from the end of the header
  std::optional<std::uint32_t> checksum;  // CRC-32C of its bytes, where the file notes it
};

// A value. Without `checksum`, the tensors have none either.
struct safetensors_header {
  std::vector<stored_tensor> tensors;           // in the order of their bytes
  std::map<std::string, std::string> metadata;  // without the checksums
  std::optional<std::uint32_t> checksum;        // of the above
};

// The format's word for a dtype, "F32"; "" for text, which it does not hold.
constexpr std::string_view safetensors_format(dtype type) {
  constexpr std::string_view names[] = {"", "F32", "F64", "I32", "I64", "U8", "BOOL", "", "BF16", "F16"};
  return names[static_cast<unsigned>(type)];
}

// Checks all there is to check without the elements; whatever is wrong is data_loss with a sentence that names `file`.
// Tensors of more than 8 dimensions are unimplemented.
safetensors_header parse_safetensors_header(std::string_view json, std::uint64_t data_bytes, const std::string& file);

// The JSON, padded with spaces so that the elements start at a multiple of 8. A name or text that is not UTF-8 is
// invalid_argument.
std::string to_json(const safetensors_header& header);

// What header.checksum should be.
std::uint32_t checksum_of(const safetensors_header& header);

// Headers above it are refused by every reader.
inline constexpr std::uint64_t longest_safetensors_header = 100'000'000;

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/safetensors_header.ipp>
#endif
