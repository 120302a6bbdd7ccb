// Bodies of <pinion/rpc/message.hpp>.
#pragma once

#include <pinion/rpc/message.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL std::uint64_t message::payload_bytes() const {
  std::uint64_t sum = 0;
  for (const part& p : parts) sum += p.bytes;
  return sum;
}

}}}  // namespace pinion::v0::rpc
