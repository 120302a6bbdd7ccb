// The header of a safetensors file: the tensors, their dtypes, shapes and places, and notes.
//
//   N (8 bytes, little-endian) | N bytes of JSON | the elements, row-major, little-endian, without gaps
//
// Beyond the format, pinion notes checksums under names of `__metadata__`, where other readers ignore them:
// "crc32c:NAME" is the CRC-32C of a tensor's bytes, and "crc32c:__metadata__" is that of everything else in the header,
// so that a flipped bit in a name, a dtype or a note is found too.
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

// A tensor of a file. A value.
// The name of the tensor in the file.
struct stored_tensor {
  std::string name;
  std::string format;                           // the file's word for the dtype, such as "F32"
  pinion::dtype type = pinion::dtype::invalid;  // invalid: elements that pinion has no type for
  pinion::shape extent;
  std::uint64_t begin = 0, end = 0;       // the place of its bytes, from the end of the header on
  std::optional<std::uint32_t> checksum;  // the CRC-32C of its bytes, if the file notes it
};

// The contents of a header. A value. If `checksum` is empty, the tensors have no checksums either.
struct safetensors_header {
  std::vector<stored_tensor> tensors;           // in the order of their bytes
  std::map<std::string, std::string> metadata;  // without the checksums
  std::optional<std::uint32_t> checksum;        // the CRC-32C of the fields above, but for the checksums
};

// The format's word for a dtype, such as "F32"; "" for text, which the format does not have. The words are those of the
// safetensors format: F32, F64, I32, I64, U8, BOOL, BF16, F16, I8, I16, U16, U32, U64.
constexpr std::string_view safetensors_format(dtype type) {
  constexpr std::string_view names[] = {"",     "F32", "F64", "I32", "I64", "U8",  "BOOL", "",
                                        "BF16", "F16", "I8",  "I16", "U16", "U32", "U64"};
  return names[static_cast<unsigned>(type)];
}

// Parses and checks a header, as far as that needs no elements. Throws data_loss, with a sentence that names `file`,
// if anything is wrong, and unimplemented for tensors of more than 8 dimensions, and in a build without
// nlohmann-json.
safetensors_header parse_safetensors_header(std::string_view json, std::uint64_t data_bytes, const std::string& file);

// The JSON of a header, padded with spaces so that the elements begin at a multiple of 8. Throws invalid_argument for a
// name or note that is not UTF-8, and unimplemented in a build without nlohmann-json.
std::string to_json(const safetensors_header& header);

// The checksum that header.checksum should have. It does not depend on the order of the tensors in the JSON text.
std::uint32_t checksum_of(const safetensors_header& header);

// The longest header that readers of the format accept, in bytes.
inline constexpr std::uint64_t longest_safetensors_header = 100'000'000;

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/safetensors_header.ipp>
#endif
