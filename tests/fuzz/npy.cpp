// NumPy's files: what is read and written again is read as the same.
#include <pinion/files/npy.hpp>

#include <fuzz/files.hpp>
#include <fuzz/target.hpp>
#include <fuzz/tensors.hpp>

namespace fuzz { namespace {

void read_again(const any_tensor& t) {
  static const temporary_folder folder;
  files::write_npy(folder.path("a.npy"), t);
  law(same_bits(files::read_npy(folder.path("a.npy")), t), "an array changes as it is written");
}

void read(std::string_view input) {
  static const memory_file file;
  const any_tensor t = files::read_npy(file.holding(input));
  law(t.bytes() <= 8 * input.size(), "an array has elements that its file has no bytes for");
  read_again(t);
}

std::string written(const any_tensor& t) {
  const temporary_folder folder;
  files::write_npy(folder.path("a.npy"), t);
  return bytes_of(folder.path("a.npy"));
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const auto type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean})
    all.push_back(written(counting(type, {2, 3})));
  all.push_back(written(counting(dtype::float32, {})));
  all.push_back(written(counting(dtype::half, {1, 2, 1, 2, 1, 1, 1, 2})));
  all.push_back(written(counting(dtype::int32, {3, 0})));
  const std::string matrix = written(counting(dtype::int32, {2, 3}));
  all.push_back(replaced(matrix, "False", "True "));
  for (const char* descr : {">i4", "<u4", ">f4"}) all.push_back(replaced(matrix, "<i4", descr));
  for (const char* descr : {"<i2", ">u2", "|i1"}) all.push_back(replaced(matrix, "<i4", descr));  // more bytes follow
  all.push_back(matrix.substr(0, 6) + std::string("\2\0", 2) + matrix.substr(8, 2) + std::string(2, '\0') +
                matrix.substr(10));
  return all;
}

const enrolled here({.name = "npy", .read = read, .seeds = seeds, .most_memory = [](std::string_view input) {
                       return 16 * input.size() + 8192;
                     }});

}}  // namespace fuzz
