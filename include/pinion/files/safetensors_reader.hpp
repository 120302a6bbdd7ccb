// Reads the tensors of a safetensors file.
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

// An open file whose header has been checked. Memory is taken only for what is read, and only once the file is known to
// hold it. Reading is thread-safe. Errors: no such file not_found; a file that is damaged, cut short or no safetensors
// file data_loss, with what is wrong; a name that is not there not_found; a tensor of a dtype that pinion does not have
// unimplemented (the rest can be read); a tensor that differs from its checksum data_loss, by name.
class safetensors_reader {
 public:
  explicit safetensors_reader(const file_path& path);

  std::filesystem::path path() const { return file_.path(); }
  const std::vector<stored_tensor>& tensors() const { return header_.tensors; }  // in the order of their bytes
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  // Null where there is none of that name.
  const stored_tensor* find(const std::string& name) const;

  std::vector<std::string_view> names() const;

  any_tensor read(const std::string& name) const;
  std::map<std::string, any_tensor> read_all() const;

 private:
  input_file file_;
  safetensors_header header_;
  std::map<std::string, std::size_t> index_;
  std::uint64_t data_ = 0;  // where the elements begin
};

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/safetensors_reader.ipp>
#endif
