// A message on its way out: an archive of what it says, and the bytes it only points to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/rpc/archive.hpp>

namespace pinion::inline v0::rpc {

// Owns its control part, and shares what owns its payload.
struct message {
  std::string control;
  std::vector<part> parts;

  std::uint64_t payload_bytes() const {
    std::uint64_t sum = 0;
    for (const part& p : parts) sum += p.bytes;
    return sum;
  }
};

template <class... T>
message encode(const T&... values) {
  writer out;
  out(values...);
  return {std::move(out.control), std::move(out.parts)};
}

// A message without payload, read to its end.
template <class M>
M decode(std::string_view control) {
  M value;
  reader in(control, 0);
  in(value);
  in.finish();
  return value;
}

}  // namespace pinion::inline v0::rpc
