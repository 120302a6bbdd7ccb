// An outgoing message: the archive of its values, and references to bytes that are sent as they are.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/rpc/archive.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// A message. It owns its control part and shares the ownership of its payload.
struct message {
  std::string control;
  std::vector<part> parts;

  std::uint64_t payload_bytes() const;
};

template <class M>
message encode(const M& value) {
  constexpr std::size_t of_most = 256;  // bytes of control: text that grows is copied again and again
  writer out;
  out.control.reserve(of_most);
  out(value);
  return {std::move(out.control), std::move(out.parts)};
}
// Reads a value, and checks that nothing follows it.
template <class M>
void read_all(reader& in, M& value) {
  in(value);
  in.finish();
}
// Reads a message that has no payload.
template <class M>
M decode(std::string_view control) {
  M value;
  reader in(control, 0);
  read_all(in, value);
  return value;
}

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/message.ipp>
#endif
