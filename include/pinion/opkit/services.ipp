// Bodies of <pinion/opkit/services.hpp>.
#pragma once

#include <pinion/opkit/services.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL error rendezvous::received_twice(const std::string& key) {
  return error(errc::internal, "the value '" + key + "' is received twice; it is sent once");
}

}}  // namespace pinion::v0
