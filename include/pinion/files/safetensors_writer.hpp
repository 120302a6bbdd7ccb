// Writes a safetensors file, tensor by tensor.
//
//   pn::files::safetensors_writer out("model.safetensors", {{"W", pn::dtype::float32, {784, 10}}});
//   out.write("W", w.untyped());
//   out.commit();
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

// The options of writing safetensors files.
struct safetensors_options {
  // Notes: texts by name. A name that begins with "crc32c:" is invalid_argument. "format" is set to "pt" unless it is
  // given, since Hugging Face's loaders refuse notes without a format.
  std::map<std::string, std::string> metadata{};
  // true: notes a CRC-32C of every tensor and of the header, for safetensors_reader to check.
  bool checksums = true;
  // true: the user of the process alone may read the file; otherwise the umask tells who may.
  bool is_private = false;
};

// The announcement of a tensor: its name, dtype and shape. A value.
struct tensor_outline {
  std::string name;
  pinion::dtype type = pinion::dtype::invalid;
  pinion::shape extent;
};

// Writes a file whose tensors are announced at the beginning and then written one by one, in any order. It keeps none
// of them in memory. The file appears under its name at commit(), complete and on the disk; without commit(), after an
// exception say, an earlier file of that name stays. It owns the output file. For one thread at a time.
//
// Errors: invalid_argument, an announced tensor of text, a name that occurs twice, is reserved or is not UTF-8, a
// tensor that was not announced, differs from its announcement or is not on the host; failed_precondition, commit()
// before all tensors were written; unimplemented, a build without nlohmann-json; those of output_file.
class safetensors_writer {
 public:
  // Lays the file out for the announced tensors and writes the header.
  safetensors_writer(const file_path& path, std::vector<tensor_outline> outlines, safetensors_options options = {});

  // Writes a tensor. Its dtype and shape are those announced.
  void write(const std::string& name, const any_tensor& value) { write(name, std::span(&value, 1), value.shape()); }
  // Writes a tensor that is kept in pieces: each piece is some rows of it, and they follow one another along the first
  // axis. The parts of a partitioned variable become one tensor by it, without being put together in memory.
  void write_pieces(const std::string& name, std::span<const any_tensor> pieces);
  // Writes a tensor of bytes that a function yields piece by piece, so that none need be kept for another. A piece is
  // read before its call returns.
  using take_bytes = std::function<void(const void* bytes, std::size_t size)>;
  void write_bytes(const std::string& name, const std::function<void(const take_bytes&)>& yield);
  // Makes the file appear. Requires: nothing is written afterwards.
  void commit();

 private:
  void write(const std::string& name, std::span<const any_tensor> pieces, const shape& extent);
  // The place of an announced tensor in the header. Throws where it was not announced, or not as that.
  std::size_t expect(const std::string& name, dtype type, const shape& extent) const;
  // Writes the elements of the tensor there.
  void write_at(std::size_t place, const std::function<void(const take_bytes&)>& yield);
  std::string said(const std::string& name) const;

  void take(safetensors_options options);

  // The place of a dtype in the file. Larger elements come first, so that all are aligned; this is the format's own
  // order of dtypes. Tensors of one dtype are ordered by name.
  static int rank_of(dtype type);
  void lay_out(std::vector<tensor_outline> outlines);
  void write_header(const std::string& json);

  output_file file_;
  safetensors_header header_;
  std::map<std::string, std::size_t> index_;
  std::vector<bool> written_;
  std::uint64_t data_ = 0;  // the offset of the first element
};

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/safetensors_writer.ipp>
#endif
