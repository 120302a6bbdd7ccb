// Bodies of <pinion/base/outcome.hpp>.
#pragma once

#include <pinion/base/outcome.hpp>

namespace pinion { inline namespace v0 { namespace detail {

PINION_DECL shared_error share(const error& why) {
  return std::make_shared<const error>(why);
}

PINION_DECL void throw_shared(const shared_error& why) {
  throw error(*why);
}

}}}  // namespace pinion::v0::detail
