// Compiled kernels on the disk, for the next start of a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// A folder with the code of units, each under the digest of its bytes, and a small file for each kernel that names its
// unit. Files appear whole or not at all, so programs may share the folder; a damaged one counts as missing and is
// replaced. Where the folder cannot be written, nothing is kept. It never throws. Thread-safe.
class code_cache {
 public:
  // The folder PINION_CUDA_CACHE, or pinion/cuda in the user's folder of caches. An empty PINION_CUDA_CACHE: none.
  code_cache();
  explicit code_cache(std::string folder) : folder_(std::move(folder)) {}

  // The code of the unit that holds a kernel, which its key tells from all others; nothing where there is none.
  std::optional<std::string> find(const std::string& key) const;
  // Keeps the code of a unit for the kernels in it. Units that were used least recently go once all take more than
  // `most_bytes`.
  void keep(const std::vector<std::string>& keys, const std::string& code) const;

  static constexpr std::uintmax_t most_bytes = 256 << 20;

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void shrink() const;

  std::string folder_;  // empty: nothing is kept
};

// The digest of a text in 32 hexadecimal digits.
std::string digest(const std::string& text);

}}}  // namespace pinion::v0::cuda

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/code_cache.ipp>
#endif
