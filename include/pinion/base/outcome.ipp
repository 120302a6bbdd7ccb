// Bodies of <pinion/base/outcome.hpp>.
#pragma once

#include <new>

#include <pinion/base/outcome.hpp>

namespace pinion { inline namespace v0 { namespace detail {

PINION_DECL shared_error share(const error& why) {
  static const error unshared = out_of_memory();
  try {
    return std::make_shared<const error>(why);
  } catch (const std::bad_alloc&) {
    return {shared_error(), &unshared};  // which takes no memory
  }
}

PINION_DECL void throw_shared(const shared_error& why) {
  throw error(*why);
}

}}}  // namespace pinion::v0::detail
