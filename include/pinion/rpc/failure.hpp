// An error on the wire: the same object arrives at the other side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/rpc/message.hpp>

namespace pinion::inline v0 {

// A code that this program does not know comes out as `unknown`.
inline void save(rpc::writer& a, const error& e) {
  a(static_cast<std::uint8_t>(e.code()), e.sentence(), e.node(), e.op(), e.device(), e.task(), e.location());
}
inline void load(rpc::reader& a, error& e) {
  std::uint8_t code;
  std::string sentence, node, op, device, task, location;
  a(code, sentence, node, op, device, task, location);
  const bool known = code >= static_cast<int>(errc::cancelled) && code <= static_cast<int>(errc::unauthenticated);
  e = error(known ? static_cast<errc>(code) : errc::unknown, std::move(sentence));
  e.at_node(node, op, location).on_device(device).in_task(task);
}
// An error has no blank value to load into.
inline void load(rpc::reader& a, std::optional<error>& maybe) {
  bool there;
  a(there);
  maybe.reset();
  if (there) a(maybe.emplace(errc::unknown, ""));
}

namespace rpc {

inline message encode_failure(const error& e) {
  return encode(e);
}
inline error decode_failure(std::string_view control) {
  error e(errc::unknown, "");
  reader in(control, 0);
  in(e);
  in.finish();
  return e;
}

}  // namespace rpc
}  // namespace pinion::inline v0
