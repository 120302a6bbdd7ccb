// Bodies of <pinion/rpc/failure.hpp>.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/rpc/failure.hpp>

namespace pinion { inline namespace v0 {

namespace detail {
// The beginning of a text, so that an error is no long message (rpc::long_control), whatever names are in it.
inline std::string beginning_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;  // no character is cut
  return std::string(text.substr(0, most)) + "...";
}
}  // namespace detail

PINION_DECL void save(rpc::writer& a, const error& e) {
  constexpr std::size_t sentence = 32 << 10, name = 4 << 10;
  a(static_cast<std::uint8_t>(e.code()), detail::beginning_of(e.sentence(), sentence),
    detail::beginning_of(e.node(), name), detail::beginning_of(e.op(), name), detail::beginning_of(e.device(), name),
    detail::beginning_of(e.task(), name), detail::beginning_of(e.location(), name));
}

PINION_DECL void load(rpc::reader& a, error& e) {
  std::uint8_t code;
  std::string sentence, node, op, device, task, location;
  a(code, sentence, node, op, device, task, location);
  const bool known = code >= static_cast<int>(errc::cancelled) && code <= static_cast<int>(errc::unauthenticated);
  e = error(known ? static_cast<errc>(code) : errc::unknown, std::move(sentence));
  e.at_node(node, op, location).on_device(device).in_task(task);
}

PINION_DECL void save(rpc::writer& a, const shared_error& maybe) {
  a(maybe != nullptr);
  if (maybe) a(*maybe);
}

PINION_DECL void load(rpc::reader& a, shared_error& maybe) {
  bool there;
  a(there);
  error why(errc::unknown, "");
  if (there) a(why);
  maybe = there ? std::make_shared<const error>(std::move(why)) : nullptr;
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL error decode_failure(std::string_view control) {
  error e(errc::unknown, "");
  reader in(control, 0);
  in(e);
  in.finish();
  return e;
}

}}}  // namespace pinion::v0::rpc
