// write_files FOLDER: writes what read_with_python.py reads, then reads what that wrote.
#include <pinion/files/npy.hpp>
#include <pinion/files/safetensors.hpp>

#include <cstdio>
#include <filesystem>
#include <numeric>
#include <string>

namespace {

namespace files = pinion::files;
using pinion::tensor;

template <class T>
pinion::any_tensor counting(const pinion::shape& extent) {
  tensor<T> t(extent);
  std::iota(t.data(), t.data() + t.size(), T{});
  return t.untyped();
}

std::map<std::string, pinion::any_tensor> tensors() {
  return {{"float", counting<float>({2, 3})},        {"double", counting<double>({4})},
          {"int32", counting<std::int32_t>({2, 1})}, {"int64", counting<std::int64_t>({})},
          {"uint8", counting<std::uint8_t>({5})},    {"bool", tensor<bool>::of({true, false, true}).untyped()},
          {"none", counting<float>({0, 3})},         {"n\xc3\xa4me/\"x\"", counting<float>({1})}};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path folder = arguments[1];
  if (std::filesystem::exists(folder / "python.safetensors"))
    return files::read_safetensors(folder / "python.safetensors") == tensors() &&
                   files::read_npy(folder / "python.npy") == tensors().at("float")
               ? 0
               : 1;
  files::write_safetensors(folder / "plain.safetensors", tensors(), {.checksums = false});
  files::write_safetensors(folder / "noted.safetensors", tensors(), {.metadata = {{"step", "7"}}});
  files::write_sharded_safetensors(folder, "model", tensors(), 40);
  files::write_npy(folder / "float.npy", tensors().at("float"));
  return 0;
}
