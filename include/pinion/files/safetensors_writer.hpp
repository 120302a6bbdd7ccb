// Writes safetensors files, tensor by tensor.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>
#include <pinion/files/output_file.hpp>
#include <pinion/files/safetensors_header.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace files {

struct safetensors_options {
  // Texts by name. Names that begin with "crc32c:" are refused. "format" is "pt" unless it is here, since Hugging
  // Face's loaders refuse notes without a format.
  std::map<std::string, std::string> metadata{};
  bool checksums = true;  // note a CRC-32C of every tensor and of the header
};

// What is to be written under a name.
struct tensor_outline {
  std::string name;
  pinion::dtype type = pinion::dtype::invalid;
  pinion::shape extent;
};

// Lays the file out at once, takes the tensors one after another in any order, and keeps none of them. The file appears
// under its name at commit(), whole and on the disk; without it (an exception, say) what was there stays. One thread at
// a time. Text, a name twice, a name that is not UTF-8 or reserved, a tensor that is not as announced:
// invalid_argument; a tensor left out at commit(): failed_precondition; the disk: see output_file.
class safetensors_writer {
 public:
  safetensors_writer(const file_path& path, std::vector<tensor_outline> outlines, safetensors_options options = {});

  void write(const std::string& name, const any_tensor& value) { write(name, std::span(&value, 1), value.shape()); }
  // A tensor that is kept in pieces: rows of it, one piece behind the other along its first axis.
  void write_pieces(const std::string& name, std::span<const any_tensor> pieces);
  // Nothing may be written afterwards.
  void commit();

 private:
  void write(const std::string& name, std::span<const any_tensor> pieces, const shape& extent);
  std::string said(const std::string& name) const;

  void take(safetensors_options options);

  // Larger elements first, so that all are aligned: the format's own order of dtypes, then of names.
  static int rank_of(dtype type);
  void lay_out(std::vector<tensor_outline> outlines);
  void write_header(const std::string& json);

  output_file file_;
  safetensors_header header_;
  std::map<std::string, std::size_t> index_;
  std::vector<bool> written_;
  std::uint64_t data_ = 0;  // where the elements begin
};

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/safetensors_writer.ipp>
#endif
