// The headers as a value: who includes whom, which folder a file lives in, on which floor a folder lies.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace house {

using names = std::set<std::string>;

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

// What a header includes for units of pinion_cuda_sources alone is not counted.
struct header {
  std::vector<std::string> lines;
  names own;                        // "spec/place.hpp": what it includes of the library
  names foreign;                    // "asio.hpp", "vector": the rest
  std::vector<std::string> order;   // own, as they stand
  std::vector<std::string> bodies;  // "spec/place.ipp": what it includes behind all else, in header-only mode
};
using headers = std::map<std::string, header>;  // by the path below include/pinion

inline header parse(const std::filesystem::path& file) {
  static const std::regex include{R"(\s*#\s*include\s*[<"]([^>"]+)[>"].*)"};
  header result;
  std::ifstream in{file};
  bool behind = false, for_nvcc = false;
  for (std::string line; std::getline(in, line); result.lines.push_back(line)) {
    std::smatch match;
    behind |= line == "#if PINION_HEADER_ONLY";
    for_nvcc = line == "#if PINION_CUDA_KERNELS" || (for_nvcc && line != "#endif");
    if (for_nvcc || !std::regex_match(line, match, include)) continue;
    const std::string name = match[1];
    if (name.starts_with("pinion/")) {
      if (behind)
        result.bodies.push_back(name.substr(7));
      else if (result.own.insert(name.substr(7)).second)
        result.order.push_back(name.substr(7));
    } else {
      result.foreign.insert(name);
    }
  }
  return result;
}

inline headers read(const std::filesystem::path& root, const names& kinds = {".hpp", ".ipp", ".cuh"}) {
  headers result;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{root}) {
    if (kinds.contains(entry.path().extension()))
      result[entry.path().lexically_relative(root).generic_string()] = parse(entry.path());
  }
  return result;
}

// The room of a file is its folder: "op/reduce" of "op/reduce/cpu.hpp". An umbrella header directly in include/pinion
// has none.
inline std::string room(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}
// The wing of a file is the outermost of its folders: "op" of "op/reduce/cpu.hpp".
inline std::string wing(const std::string& path) {
  const auto slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

inline bool is_bodies(const std::string& path) {
  return path.ends_with(".ipp");
}

// Everything that including a header brings, itself and bodies not counted.
inline names closure(const headers& all, const std::string& from) {
  names seen;
  const std::function<void(const std::string&)> visit = [&](const std::string& path) {
    const auto found = all.find(path);
    if (found == all.end()) return;
    for (const std::string& next : found->second.own) {
      if (seen.insert(next).second) visit(next);
    }
    for (const std::string& name : found->second.foreign) seen.insert("<" + name + ">");
  };
  visit(from);
  return seen;
}

// Bodies that are read before something they include has been, in header-only mode, where a program includes `from`
// first: "a.ipp is read before b.hpp".
inline std::string read_too_early(const headers& all, const std::string& from) {
  enum class progress { begun, declared };
  std::map<std::string, progress> seen;
  std::string result;
  const std::function<void(const std::string&)> visit = [&](const std::string& path) {
    const auto found = all.find(path);
    if (found == all.end()) return;
    seen[path] = progress::begun;
    for (const std::string& next : found->second.order) {
      const auto at = seen.find(next);
      if (at == seen.end())
        visit(next);
      else if (at->second == progress::begun)
        result += path + " is read before " + next + " where " + from + " comes first\n";
    }
    seen[path] = progress::declared;
    for (const std::string& next : found->second.bodies)
      if (!seen.contains(next)) visit(next);
  };
  visit(from);
  return result;
}

}  // namespace house
