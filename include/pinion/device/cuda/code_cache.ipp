// Bodies of <pinion/device/cuda/code_cache.hpp>.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <pinion/base/error.hpp>
#include <pinion/base/md5.hpp>
#include <pinion/device/cuda/code_cache.hpp>
#include <pinion/files/output_file.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

namespace detail {

inline std::string cache_folder() {
  if (const char* const own = std::getenv("PINION_CUDA_CACHE")) return own;
  if (const char* const caches = std::getenv("XDG_CACHE_HOME"); caches && *caches)
    return std::string(caches) + "/pinion/cuda";
  if (const char* const home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/pinion/cuda";
  return "";
}

inline std::optional<std::string> contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  try {
    return std::string(std::istreambuf_iterator<char>(in), {});
  } catch (const std::exception&) {  // a folder, or a disk that fails
    return std::nullopt;
  }
}

}  // namespace detail

PINION_DECL std::string digest(const std::string& text) {
  std::string digits;
  for (const unsigned char byte : md5(text)) digits += fmt::format("{:02x}", byte);
  return digits;
}

PINION_DECL code_cache::code_cache() : code_cache(detail::cache_folder()) {}

PINION_DECL std::optional<std::string> code_cache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const auto unit = detail::contents(path(key + ".kernel"));
  if (!unit || unit->size() != key.size()) return std::nullopt;
  auto code = detail::contents(path(*unit + ".unit"));
  if (!code || digest(*code) != *unit) return std::nullopt;
  std::error_code ignored;
  std::filesystem::last_write_time(path(*unit + ".unit"), std::filesystem::file_time_type::clock::now(), ignored);
  return code;
}

PINION_DECL void code_cache::keep(const std::vector<std::string>& keys, const std::string& code) const {
  if (folder_.empty()) return;
  try {
    std::filesystem::create_directories(folder_);
    const std::string unit = digest(code);
    files::write_file(path(unit + ".unit"), code);
    for (const std::string& key : keys) files::write_file(path(key + ".kernel"), unit);
    shrink();
  } catch (const std::exception&) {  // a cache is no condition of anything
  }
}

PINION_DECL void code_cache::shrink() const {
  namespace fs = std::filesystem;
  struct kept {
    fs::file_time_type used;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<kept> all;
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() != ".unit" && entry.path().extension() != ".kernel") continue;
    all.push_back({entry.last_write_time(), entry.file_size(), entry.path()});
    bytes += all.back().bytes;
  }
  if (bytes <= most_bytes) return;
  std::sort(all.begin(), all.end(), [](const kept& a, const kept& b) { return a.used < b.used; });
  for (const kept& one : all) {
    if (bytes <= most_bytes / 2) return;
    fs::remove(one.path);
    bytes -= one.bytes;
  }
}

}}}  // namespace pinion::v0::cuda
