// IDX files, compressed or not: an input takes no more memory than its content justifies.
#include <zlib.h>

#include <pinion/files/idx.hpp>

#include <fuzz/files.hpp>
#include <fuzz/target.hpp>

namespace fuzz { namespace {

void read(std::string_view input) {
  static const memory_file file;
  const any_tensor t = files::read_idx(file.holding(input));
  law(t.shape().rank() >= 1 && t.shape().known(), "an IDX file has a shape of " + to_string(t.shape()));
}

bool is_packed(std::string_view input) {
  return input.starts_with("\x1f\x8b");
}

// A compressed file holds up to 1032 times its bytes; elements of one byte become four, in memory that doubles.
std::size_t most_memory(std::string_view input) {
  return (is_packed(input) ? 1032 : 1) * 8 * input.size() + (std::size_t{4} << 20);
}

std::string idx(char type, std::size_t bytes, std::initializer_list<char> extent) {
  std::string file{0, 0, type, static_cast<char>(extent.size())};
  for (const char d : extent) {
    file += std::string(3, '\0') + d;
    bytes *= static_cast<std::size_t>(d);
  }
  for (std::size_t i = 0; i < bytes; ++i) file += static_cast<char>(i);
  return file;
}

std::string packed(const std::string& input) {
  static const memory_file file;
  const gzFile out = ::gzopen(file.holding("").c_str(), "wb");
  ::gzwrite(out, input.data(), static_cast<unsigned>(input.size()));
  ::gzclose(out);
  return bytes_of(file.path());
}
// As much as can be unpacked, up to 64 KiB.
std::string unpacked(const std::string& input) {
  static const memory_file file;
  const gzFile in = ::gzopen(file.holding(input).c_str(), "rb");
  std::string text(1 << 16, '\0');
  const int got = ::gzread(in, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(in);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}
// Changes a byte within, or packs an input that was not.
std::string change(std::string input, dice& random) {
  std::string content = is_packed(input) ? unpacked(input) : std::move(input);
  if (!content.empty()) content[random(content.size())] = static_cast<char>(random(256));
  return packed(content);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all{idx(0x08, 1, {3, 4, 2}), idx(0x09, 1, {5}),    idx(0x0b, 2, {2, 2}),
                               idx(0x0c, 4, {2, 2}),    idx(0x0d, 4, {2, 3}), idx(0x0e, 8, {1, 1, 1, 1, 1, 1, 1, 2}),
                               idx(0x08, 1, {0, 28})};
  for (std::size_t i = all.size(); i-- > 0;) all.push_back(packed(all[i]));
  return all;
}

const enrolled here({.name = "idx", .read = read, .seeds = seeds, .most_memory = most_memory, .change = change});

}}  // namespace fuzz
