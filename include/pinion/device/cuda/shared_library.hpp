// A library that is opened while the program runs, as NVIDIA's are, which may be missing.
#pragma once

#include <string>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// A shared library, sought by its names, the preferred one first: in each folder of the environment variable
// PINION_CUDA_LIBS, which separates them by ':', then where the system's loader looks, then in /usr/local/cuda/lib64. A
// failure to open one is no exception but a sentence. It is never closed, since threads of its own may run to the
// program's end. Thread-safe.
class shared_library {
 public:
  shared_library() = default;  // none
  // `first`: a folder in which it is sought before all others; empty: none.
  explicit shared_library(const std::vector<std::string>& names, const std::string& first = {});

  bool is_open() const { return handle_ != nullptr; }
  // The file or name by which it was opened; empty where it is missing.
  const std::string& path() const { return path_; }
  // The folder in which its file lies, wherever it was found; empty where it is missing.
  std::string folder() const;
  // A sentence that tells where the library was sought and why it was not opened; empty where it is open.
  const std::string& problem() const { return problem_; }
  // The function of that name; null where the library is missing or has none. F is its type, as a header declares it:
  // auto* make = library.symbol<decltype(nvrtcCreateProgram)>("nvrtcCreateProgram").
  template <class F>
  F* symbol(const char* name) const {
    return reinterpret_cast<F*>(address(name));
  }

 private:
  bool open(const std::string& path);
  void* address(const char* name) const;

  void* handle_ = nullptr;
  std::string path_, problem_;
};

}}}  // namespace pinion::v0::cuda

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/shared_library.ipp>
#endif
