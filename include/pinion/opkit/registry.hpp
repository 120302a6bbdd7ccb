// Ops that a program brings along, beside those of the catalogue.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 {

class kernel;
struct kernel_setup;

// What is known of such an op. Lives as long as the program; linked into the list once.
struct registered_op {
  definition def;
  std::string_view type;  // the C++ type, by its name
  std::unique_ptr<kernel> (*make)(const kernel_setup&) = nullptr;
  const registered_op* next = nullptr;
};

__attribute__((visibility("default"))) inline std::atomic<const registered_op*> registered_ops{nullptr};

// Null where no op of that name was registered. Thread-safe.
const registered_op* find_registered(std::string_view name);

// Thread-safe. Throws already_exists where another type has the name; the same type, in another library of the program,
// may come again.
void add_registered(registered_op& op);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/registry.ipp>
#endif
