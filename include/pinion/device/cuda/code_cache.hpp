// Compiled kernels on the disk, for the next start of a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// A folder with the code of units, each under the digest of its bytes, and a small file for each kernel with a line for
// each version of the compiler that made it: the version, and the kernel's unit. Files appear whole or not at all, so
// programs may share the folder; a damaged one counts as missing and is replaced. Where the folder cannot be written,
// nothing is kept. It never throws. Thread-safe.
class code_cache {
 public:
  // The folder PINION_CUDA_CACHE, or pinion/cuda in the user's folder of caches. An empty PINION_CUDA_CACHE: none.
  code_cache();
  explicit code_cache(std::string folder, std::uintmax_t most_bytes = 256 << 20)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  // The code of the unit that holds a kernel, which its key tells from all others, made by a version of the compiler,
  // such as "13.0"; by the one that made it last if `version` is empty. Nothing where there is none.
  std::optional<std::string> find(const std::string& key, const std::string& version) const;
  // Keeps the code of a unit for the kernels in it. Once all files take more than `most_bytes`, those that were used
  // least recently go, up to half of that.
  void keep(const std::vector<std::string>& keys, const std::string& version, const std::string& code) const;

  static constexpr std::size_t most_versions = 4;  // of the compiler, for one kernel

 private:
  // The digest of a unit, and the version of the compiler that made it.
  struct made_by {
    std::string version, unit;
  };

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string path_of_kernel(const std::string& key) const { return path(key + ".kernel"); }
  std::string path_of_unit(const std::string& unit) const { return path(unit + ".unit"); }
  std::vector<made_by> units_of(const std::string& key) const;
  std::optional<std::string> code_of(const std::string& unit) const;
  void keep_kernel(const std::string& key, const made_by& newest) const;
  void shrink() const;

  std::string folder_;  // empty: nothing is kept
  std::uintmax_t most_bytes_;
};

// The digest of a text in 32 hexadecimal digits.
std::string digest(const std::string& text);

}}}  // namespace pinion::v0::cuda

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/code_cache.ipp>
#endif
