// Bodies of <pinion/device/cuda/code_cache.hpp>.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

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

// Tells shrink() that a file was used now.
inline void note_use(const std::string& path) {
  std::error_code ignored;
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), ignored);
}

}  // namespace detail

PINION_DECL std::string digest(const std::string& text) {
  std::string digits;
  for (const unsigned char byte : md5(text)) digits += fmt::format("{:02x}", byte);
  return digits;
}

PINION_DECL code_cache::code_cache() : code_cache(detail::cache_folder()) {}

PINION_DECL std::vector<code_cache::made_by> code_cache::units_of(const std::string& key) const {
  std::vector<made_by> all;
  std::istringstream lines(detail::contents(path_of_kernel(key)).value_or(""));
  for (made_by one; lines >> one.version >> one.unit;) all.push_back(one);
  return all;
}

PINION_DECL std::optional<std::string> code_cache::code_of(const std::string& unit) const {
  auto code = detail::contents(path_of_unit(unit));
  return code && digest(*code) == unit ? code : std::nullopt;
}

PINION_DECL std::optional<std::string> code_cache::find(const std::string& key, const std::string& version) const {
  if (folder_.empty()) return std::nullopt;
  for (const made_by& one : units_of(key)) {
    if (!version.empty() && one.version != version) continue;
    auto code = code_of(one.unit);
    if (!code) continue;
    detail::note_use(path_of_kernel(key));
    detail::note_use(path_of_unit(one.unit));
    return code;
  }
  return std::nullopt;
}

PINION_DECL void code_cache::keep(const std::vector<std::string>& keys, const std::string& version,
                                  const std::string& code) const {
  if (folder_.empty()) return;
  try {
    std::filesystem::create_directories(folder_);
    const std::string unit = digest(code);
    files::write_file(path_of_unit(unit), code);
    for (const std::string& key : keys) keep_kernel(key, {version, unit});
    shrink();
  } catch (const std::exception&) {  // a cache is no condition of anything
  }
}

PINION_DECL void code_cache::keep_kernel(const std::string& key, const made_by& newest) const {
  std::string lines = newest.version + " " + newest.unit + "\n";
  std::size_t versions = 1;
  for (const made_by& one : units_of(key))
    if (one.version != newest.version && versions++ < most_versions) lines += one.version + " " + one.unit + "\n";
  files::write_file(path_of_kernel(key), lines);
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
  if (bytes <= most_bytes_) return;
  std::sort(all.begin(), all.end(), [](const kept& a, const kept& b) { return a.used < b.used; });
  for (const kept& one : all) {
    if (bytes <= most_bytes_ / 2) return;
    fs::remove(one.path);
    bytes -= one.bytes;
  }
}

}}}  // namespace pinion::v0::cuda
