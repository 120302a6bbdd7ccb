// Bodies of library.hpp.
#include "library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace {

// The bytes of a shared object as a compiler writes it: the table of sections ends it.
std::size_t size_of(const void* image) {
  Elf64_Ehdr head;
  std::memcpy(&head, image, sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) throw std::runtime_error("the image is no shared object");
  return head.e_shoff + std::size_t{head.e_shentsize} * head.e_shnum;
}

// A file that the opened object outlives.
std::shared_ptr<void> open(const void* image) {
  const std::size_t size = size_of(image);
  char path[] = "/tmp/pinion_fake_cuda_XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) throw std::runtime_error("there is no room for a shared object in /tmp");
  const bool is_written = write(file, image, size) == static_cast<ssize_t>(size);
  close(file);
  void* const object = is_written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  const std::string why = object ? "" : is_written ? dlerror() : "there is no room for a shared object in /tmp";
  unlink(path);
  if (!object) throw std::runtime_error(why);
  return {object, dlclose};
}

}  // namespace

CUlib_st::CUlib_st(const void* image) : object_(open(image)) {}

CUkern_st* CUlib_st::kernel(const std::string& name) {
  if (const auto found = kernels_.find(name); found != kernels_.end()) return &found->second;
  const auto symbol = [&](const std::string& of) { return dlsym(object_.get(), of.c_str()); };
  void *const variables = symbol("fake_cuda_variables"), *const thread = symbol("fake_cuda_thread_of_" + name),
              *const size = symbol("fake_cuda_size_of_" + name);
  if (!variables || !thread || !size) return nullptr;
  CUkern_st& kernel = kernels_[name];
  kernel.object = object_;
  std::memcpy(&kernel.variables_of_unit, &variables, sizeof variables);
  std::memcpy(&kernel.thread, &thread, sizeof thread);
  kernel.argument_size = *static_cast<const std::size_t*>(size);
  return &kernel;
}
