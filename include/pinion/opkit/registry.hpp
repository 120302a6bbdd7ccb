// The registry of ops that a program defines itself, beside those of the catalogue.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 {

class kernel;
struct kernel_setup;

// An entry of the registry: the definition, the C++ type and the kernel maker of one op. Has static lifetime, and is
// linked into the list once.
//
// pn::register_op makes it of a user's type; nothing else needs to.
struct registered_op {
  definition def;
  std::string_view type;  // name of the C++ type
  std::unique_ptr<kernel> (*make)(const kernel_setup&) = nullptr;
  bool cuda = false;  // has a kernel for devices whose kernels are CUDA
  const registered_op* next = nullptr;
};

__attribute__((visibility("default"))) inline std::atomic<const registered_op*> registered_ops{nullptr};

// The names of the entries with kernels on GPUs that are host code alone. Thread-safe.
std::vector<std::string> registered_without_cuda();

// The entry of that name, or null. Thread-safe.
const registered_op* find_registered(std::string_view name);

// Adds an entry. Throws already_exists where another type has that name; the same type may be added again, by another
// shared library of the program. Thread-safe.
void add_registered(registered_op& op);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/registry.ipp>
#endif
