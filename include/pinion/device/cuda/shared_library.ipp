// Bodies of <pinion/device/cuda/shared_library.hpp>.
#pragma once

#include <dlfcn.h>
#include <limits.h>

#include <cstdlib>
#include <string_view>

#include <pinion/device/cuda/shared_library.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

namespace detail {

// The folders of PINION_CUDA_LIBS, each with a '/' at its end.
inline std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  const char* const list = std::getenv("PINION_CUDA_LIBS");
  for (std::string_view rest = list ? list : ""; !rest.empty();) {
    const auto end = rest.find(':');
    if (const auto folder = rest.substr(0, end); !folder.empty()) folders.push_back(std::string(folder) + '/');
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
  }
  return folders;
}

}  // namespace detail

PINION_DECL shared_library::shared_library(const std::vector<std::string>& names, const std::string& first) {
  std::vector<std::string> places = detail::library_folders();
  if (!first.empty()) places.insert(places.begin(), first + '/');
  places.insert(places.end(), {"", "/usr/local/cuda/lib64/"});
  for (const std::string& place : places)
    for (const std::string& name : names)
      if (open(place + name)) return;
  problem_ = "the library " + (names.empty() ? std::string() : names.front()) +
             " was found neither in the folders of PINION_CUDA_LIBS, nor by the system's loader, nor in "
             "/usr/local/cuda/lib64; the last attempt: " +
             problem_;
}

PINION_DECL bool shared_library::open(const std::string& path) {
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_) {
    path_ = path;
    problem_.clear();
    return true;
  }
  const char* const why = dlerror();
  problem_ = why ? why : path;
  return false;
}

PINION_DECL std::string shared_library::folder() const {
  char origin[PATH_MAX];
  return handle_ && dlinfo(handle_, RTLD_DI_ORIGIN, origin) == 0 ? origin : "";
}

PINION_DECL void* shared_library::address(const char* name) const {
  return handle_ ? dlsym(handle_, name) : nullptr;
}

}}}  // namespace pinion::v0::cuda
