// A folder of a test's own, and files as bytes.
#pragma once

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

#include <pinion/tensor/tensor.hpp>

#include <support/caught.hpp>
#include <support/temporary_folder.hpp>

struct folder {
  temporary_folder own;
  std::filesystem::path path = own.folder();

  std::filesystem::path operator/(const std::string& name) const { return path / name; }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::filesystem::remove(path / name);  // some file systems flush a file that is cut to nothing and written anew
    std::ofstream(path / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path / name;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "00 ff | 2a" as bytes.
inline std::string from_hex(std::string_view text) {
  std::string bytes, digits;
  for (const char c : text) {
    if (std::string_view("0123456789abcdef").find(c) != std::string_view::npos) digits += c;
  }
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

// The sentence without the folder: "data_loss: a.npy is cut short".
template <class F>
std::string outcome_in(const folder& dir, F&& call) {
  std::string text = failure(call);
  const std::string prefix = dir.path.string() + "/";
  for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
  return text;
}

template <class T>
pinion::any_tensor any(const pinion::literal<T>& nested) {
  return pinion::tensor<T>::of(nested).untyped();
}
