// Bodies of <pinion/files/safetensors_writer.hpp>.
#pragma once

#include <algorithm>
#include <bit>
#include <string_view>
#include <tuple>
#include <utility>

#include <pinion/files/crc32c.hpp>
#include <pinion/files/safetensors_writer.hpp>

namespace pinion { inline namespace v0 { namespace files {

PINION_DECL safetensors_writer::safetensors_writer(const file_path& path, std::vector<tensor_outline> outlines,
                                                   safetensors_options options)
    : file_(path, options.is_private ? readers::owner : readers::by_umask) {
  static_assert(std::endian::native == std::endian::little, "elements are stored little-endian");
  take(std::move(options));
  lay_out(std::move(outlines));
  if (header_.checksum) header_.checksum = checksum_of(header_);
  const std::string json = to_json(header_);
  if (json.size() > longest_safetensors_header)
    throw error(errc::invalid_argument, "the names and notes of " + path.text() + " take " +
                                            std::to_string(json.size()) + " bytes; 100,000,000 are read by others");
  data_ = 8 + json.size();
  write_header(json);  // the checksums are filled in at the end, since their width is fixed
}

PINION_DECL void safetensors_writer::write_pieces(const std::string& name, std::span<const any_tensor> pieces) {
  shape whole = pieces.empty() ? shape::any() : pieces[0].shape();
  for (const any_tensor& piece : pieces.subspan(std::min<std::size_t>(1, pieces.size()))) {
    shape like_first = piece.shape();
    if (whole.rank() > 0 && like_first.rank() == whole.rank()) like_first.set(0, pieces[0].shape()[0]);
    if (whole.rank() < 1 || !(like_first == pieces[0].shape()) || piece.dtype() != pieces[0].dtype())
      throw error(errc::invalid_argument, said(name) + " came in pieces that are not rows of one tensor");
    whole.set(0, whole[0] + piece.shape()[0]);
  }
  write(name, pieces, whole);
}

PINION_DECL void safetensors_writer::commit() {
  const auto missing = std::find(written_.begin(), written_.end(), false);
  if (missing != written_.end())
    throw error(errc::failed_precondition,
                said(header_.tensors[static_cast<std::size_t>(missing - written_.begin())].name) + " was not written");
  if (header_.checksum) write_header(to_json(header_));
  file_.commit();
}

PINION_DECL void safetensors_writer::write(const std::string& name, std::span<const any_tensor> pieces,
                                           const shape& extent) {
  for (const any_tensor& piece : pieces)
    if (piece.empty() || !piece.on_host()) throw error(errc::invalid_argument, said(name) + " is not on the host");
  const std::size_t at = expect(name, pieces.empty() ? dtype::invalid : pieces[0].dtype(), extent);
  write_at(at, [&](const take_bytes& take) {
    for (const any_tensor& piece : pieces) take(piece.raw(), piece.bytes());
  });
}

PINION_DECL void safetensors_writer::write_bytes(const std::string& name,
                                                 const std::function<void(const take_bytes&)>& yield) {
  const auto found = index_.find(name);
  const shape announced = found == index_.end() ? shape() : header_.tensors[found->second].extent;
  write_at(expect(name, dtype::uint8, announced), yield);
}

PINION_DECL void safetensors_writer::write_at(std::size_t place, const std::function<void(const take_bytes&)>& yield) {
  stored_tensor& t = header_.tensors[place];
  std::uint64_t at = t.begin;
  std::uint32_t checksum = 0;
  const auto expect_end = [&](bool good) {
    if (!good) throw error(errc::invalid_argument, said(t.name) + " has other bytes than were announced");
  };
  yield([&](const void* bytes, std::size_t size) {
    expect_end(size <= t.end - at);
    file_.write_at(data_ + at, bytes, size);
    if (t.checksum) checksum = crc32c(bytes, size, checksum);
    at += size;
  });
  expect_end(at == t.end);
  if (t.checksum) t.checksum = checksum;
  written_[place] = true;
}

PINION_DECL std::size_t safetensors_writer::expect(const std::string& name, dtype type, const shape& extent) const {
  const auto found = index_.find(name);
  if (found == index_.end()) throw error(errc::invalid_argument, said(name) + " was not announced");
  const stored_tensor& t = header_.tensors[found->second];
  if (type == t.type && extent == t.extent) return found->second;
  throw error(errc::invalid_argument, said(name) + " was announced as " + std::string(to_string(t.type)) +
                                          to_string(t.extent) + " and came as " + std::string(to_string(type)) +
                                          to_string(extent));
}

PINION_DECL std::string safetensors_writer::said(const std::string& name) const {
  return "tensor '" + name + "' of " + file_.path();
}

PINION_DECL void safetensors_writer::take(safetensors_options options) {
  for (const auto& [key, value] : options.metadata)
    if (key.starts_with("crc32c:"))
      throw error(errc::invalid_argument,
                  "the note '" + key + "' of " + file_.path() + " takes a name that is kept for checksums");
  if (options.checksums) header_.checksum = 0;
  if (options.metadata.empty() && !options.checksums) return;
  header_.metadata = std::move(options.metadata);
  header_.metadata.emplace("format", "pt");
}

PINION_DECL int safetensors_writer::rank_of(dtype type) {
  constexpr int ranks[] = {99, 3, 2, 5, 1, 11, 12, 98, 6, 7, 10, 9, 8, 4, 0};
  return ranks[static_cast<unsigned>(type)];
}

PINION_DECL void safetensors_writer::lay_out(std::vector<tensor_outline> outlines) {
  std::sort(outlines.begin(), outlines.end(), [](const tensor_outline& a, const tensor_outline& b) {
    return std::tuple<int, const std::string&>(rank_of(a.type), a.name) <
           std::tuple<int, const std::string&>(rank_of(b.type), b.name);
  });
  std::uint64_t at = 0;
  for (tensor_outline& o : outlines) {
    const std::string_view format = safetensors_format(o.type);
    if (format.empty())
      throw error(errc::invalid_argument, said(o.name) + " is of " + std::string(to_string(o.type)) +
                                              ", and safetensors files hold numbers and booleans only");
    if (!o.extent.known() || !countable(o.extent))
      throw error(errc::invalid_argument, said(o.name) + " has the shape " + to_string(o.extent));
    if (o.name == "__metadata__" || !index_.emplace(o.name, header_.tensors.size()).second)
      throw error(errc::invalid_argument,
                  said(o.name) + (o.name == "__metadata__" ? " has a name that is reserved" : " is there twice"));
    const std::uint64_t bytes = static_cast<std::uint64_t>(o.extent.count()) * size_of(o.type);
    if (bytes > (std::uint64_t{1} << 62) - at) throw error(errc::invalid_argument, said(o.name) + " is too large");
    stored_tensor t;
    t.name = std::move(o.name);
    t.format = format;
    t.type = o.type;
    t.extent = o.extent;
    t.begin = at;
    t.end = at += bytes;
    if (header_.checksum) t.checksum = 0;
    header_.tensors.push_back(std::move(t));
  }
  written_.assign(header_.tensors.size(), false);
}

PINION_DECL void safetensors_writer::write_header(const std::string& json) {
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(std::uint64_t{json.size()} >> (8 * i));
  file_.write_at(0, length, 8);
  file_.write_at(8, json.data(), json.size());
}

}}}  // namespace pinion::v0::files
