// Reads the tensors of a safetensors file.
//
//   pn::files::safetensors_reader file("model.safetensors");
//   for (const auto& t : file.tensors()) fmt::print("{} {}\n", t.name, pn::to_string(t.extent));
//   pn::tensor<float> w{file.read("W")};
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>
#include <pinion/files/input_file.hpp>
#include <pinion/files/safetensors_header.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace files {

// An open safetensors file whose header has been checked. It owns the open file. Memory is taken only for the tensors
// that are read, and only once the file is known to hold them. Several threads may read at once.
//
// Errors: not_found, there is no such file or tensor; data_loss, the file is damaged, cut short or no safetensors file,
// or a tensor differs from its checksum; unimplemented, a tensor has a dtype that pinion does not have (the others can
// be read), or pinion was built without nlohmann-json.
class safetensors_reader {
 public:
  // Opens the file, and reads and checks its header.
  explicit safetensors_reader(const file_path& path);

  // The path that it was opened by.
  std::filesystem::path path() const { return file_.path(); }
  // The descriptions of all tensors, in the order of their bytes.
  const std::vector<stored_tensor>& tensors() const { return header_.tensors; }
  // The notes of the file, without the checksums.
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  // The description of a tensor; null if there is none of that name.
  const stored_tensor* find(const std::string& name) const;

  // The names of all tensors; they live as long as the reader.
  std::vector<std::string_view> names() const;

  // Reads a tensor into host memory. Throws not_found if there is none of that name, with the nearest name.
  any_tensor read(const std::string& name) const;
  // Reads all tensors.
  std::map<std::string, any_tensor> read_all() const;

 private:
  input_file file_;
  safetensors_header header_;
  std::map<std::string, std::size_t> index_;
  std::uint64_t data_ = 0;  // the offset of the first element
};

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/safetensors_reader.ipp>
#endif
