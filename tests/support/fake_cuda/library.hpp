// Libraries of the stand-in: shared objects that hold kernels.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include <driver_types.h>

#include "block.hpp"

// One kernel, which has one argument.
struct CUkern_st {
  std::shared_ptr<void> object;  // which holds it
  fake_cuda::variables (*variables_of_unit)();
  void (*thread)(const void* argument);
  std::size_t argument_size;
};

struct CUlib_st {
  // Opens the image of a shared object. Throws std::runtime_error if it is none.
  explicit CUlib_st(const void* image);

  // Null if there is no such kernel.
  CUkern_st* kernel(const std::string& name);
  bool has(const CUkern_st* kernel) const { return kernel->object == object_; }

 private:
  std::shared_ptr<void> object_;
  std::map<std::string, CUkern_st> kernels_;
};
