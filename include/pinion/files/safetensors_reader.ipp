// Bodies of <pinion/files/safetensors_reader.hpp>.
#pragma once

#include <bit>

#include <pinion/base/near_name.hpp>
#include <pinion/files/booleans.hpp>
#include <pinion/files/crc32c.hpp>
#include <pinion/files/safetensors_reader.hpp>

namespace pinion { inline namespace v0 { namespace files {

PINION_DECL safetensors_reader::safetensors_reader(const file_path& path) : file_(path) {
  static_assert(std::endian::native == std::endian::little, "elements are stored little-endian");
  const std::string& name = path.text();
  if (file_.size() < 8) throw error(errc::data_loss, name + " is no safetensors file: it has less than 8 bytes");
  unsigned char length[8];
  file_.read(0, length, 8);
  std::uint64_t bytes = 0;
  for (int i = 0; i < 8; ++i) bytes |= std::uint64_t{length[i]} << (8 * i);
  if (bytes > longest_safetensors_header || bytes > file_.size() - 8)
    throw error(errc::data_loss, name + " is no safetensors file, or is cut short: it announces a header of " +
                                     std::to_string(bytes) + " bytes, and has " + std::to_string(file_.size()) +
                                     " in all");
  std::string json(static_cast<std::size_t>(bytes), ' ');
  file_.read(8, json.data(), json.size());
  data_ = 8 + bytes;
  header_ = parse_safetensors_header(json, file_.size() - data_, name);
  if (header_.checksum && *header_.checksum != checksum_of(header_))
    throw error(errc::data_loss, name + " is damaged: its header differs from its checksum");
  for (std::size_t i = 0; i < header_.tensors.size(); ++i) index_.emplace(header_.tensors[i].name, i);
}

PINION_DECL const stored_tensor* safetensors_reader::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &header_.tensors[found->second];
}

PINION_DECL std::vector<std::string_view> safetensors_reader::names() const {
  std::vector<std::string_view> all;
  for (const stored_tensor& t : header_.tensors) all.push_back(t.name);
  return all;
}

PINION_DECL any_tensor safetensors_reader::read(const std::string& name) const {
  const stored_tensor* t = find(name);
  if (!t)
    throw error(errc::not_found, "there is no tensor '" + name + "' in " + file_.path() + did_you_mean(name, names()));
  const std::string what = "tensor '" + name + "' in " + file_.path();
  if (t->type == dtype::invalid)
    throw error(errc::unimplemented, what + " has elements of " + t->format + ", which pinion has no dtype for");
  any_tensor value(t->type, t->extent);
  file_.read(data_ + t->begin, value.raw(), value.bytes());
  if (t->checksum && crc32c(value.raw(), value.bytes()) != *t->checksum)
    throw error(errc::data_loss, what + " is damaged: it differs from its checksum");
  check_booleans(value, what);
  return value;
}

PINION_DECL std::map<std::string, any_tensor> safetensors_reader::read_all() const {
  std::map<std::string, any_tensor> all;
  for (const stored_tensor& t : header_.tensors) all.emplace(t.name, read(t.name));
  return all;
}

}}}  // namespace pinion::v0::files
