// Checkpoints of one file: tensors that are read and written again are read as the same.
#include <map>

#include <pinion/files/crc32c.hpp>
#include <pinion/files/safetensors.hpp>
#include <pinion/train/checkpoint/checkpoint_reader.hpp>

#include <fuzz/files.hpp>
#include <fuzz/target.hpp>
#include <fuzz/tensors.hpp>

namespace fuzz { namespace {

using tensors = std::map<std::string, any_tensor>;

std::string written(const tensors& all, const files::safetensors_options& how = {}) {
  static const temporary_folder folder;
  files::write_safetensors(folder.path("a.safetensors"), all, how);
  return bytes_of(folder.path("a.safetensors"));
}

void read_again(const tensors& all) {
  static const memory_file file;
  const tensors again = files::read_safetensors(file.holding(written(all)));
  law(again.size() == all.size(), "a file loses a tensor as it is written");
  for (const auto& [name, t] : all) law(same_bits(again.at(name), t), "a tensor changes as it is written");
}

void read(std::string_view input) {
  static const temporary_folder folder;
  put(folder.path("model.safetensors"), input);
  const train::checkpoint_reader file(folder.path("model"));
  tensors all;
  std::size_t bytes = 0;
  for (const std::string_view name : file.names()) {
    law(file.find(std::string(name)) != nullptr, "a tensor is listed, and not found");
    try {
      const any_tensor t = file.read(std::string(name));
      bytes += t.bytes();
      all.emplace(name, t);
    } catch (const error&) {
    }
  }
  law(bytes <= input.size(), "tensors have more bytes than their file");
  read_again(all);
}

std::string with_header(const std::string& json, std::string_view elements) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(json.size() >> (8 * i));
  return file + json + std::string(elements);
}

// Gives the file the length of header that it has and, where it can be read then, the checksums that it should have.
std::string change(std::string input, dice&) {
  if (input.size() < 10) return input;
  const std::size_t end = input.find("}}", 8);
  if (end == input.npos) return input;
  const std::string json = input.substr(8, end + 2 - 8);
  std::string_view elements = std::string_view(input).substr(end + 2);
  elements.remove_prefix(std::min(elements.find_first_not_of(' '), elements.size()));
  try {
    auto header = files::parse_safetensors_header(json, elements.size(), "a file");
    for (auto& t : header.tensors) t.checksum = files::crc32c(elements.substr(t.begin, t.end - t.begin));
    header.checksum = files::checksum_of(header);
    return with_header(files::to_json(header), elements);
  } catch (const error&) {
    return with_header(json, elements);
  }
}

std::vector<std::string> seeds() {
  const any_tensor w = counting(dtype::float32, {2, 3}), b = counting(dtype::boolean, {5}),
                   n = counting(dtype::int64, {});
  return {written({{"W", w}, {"b", b}, {"global_step", n}}),
          written({{"W", w}, {"scope/empty", counting(dtype::float64, {0, 4})}}, {.checksums = false}),
          written({{"half", counting(dtype::half, {3})}, {"bf", counting(dtype::bfloat16, {1, 1})}},
                  {.metadata = {{"note", "naïve"}}}),
          written({{"a", counting(dtype::int8, {3})}, {"b", counting(dtype::uint64, {2})}}),
          written({}),
          with_header(R"({"x":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}})", std::string(4, '\1'))};
}

const enrolled here({.name = "safetensors",
                     .read = read,
                     .seeds = seeds,
                     .most_memory = [](std::string_view input) { return 64 * input.size() + (std::size_t{1} << 16); },
                     .change = change});

}}  // namespace fuzz
