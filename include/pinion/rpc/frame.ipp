// Bodies of <pinion/rpc/frame.hpp>.
#pragma once

#include <string>

#include <pinion/rpc/frame.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL std::optional<excess> excess_of(std::uint64_t control, std::uint64_t payload, const limits& allowed) {
  if (control > allowed.control) return excess{"control", control, allowed.control};
  if (payload > allowed.payload) return excess{"payload", payload, allowed.payload};
  return std::nullopt;
}

PINION_DECL void check(const frame_header& h, const limits& allowed) {
  if (h.magic != frame_header::expected_magic)
    throw error(errc::data_loss, "what arrives is not a pinion message: it does not begin with PN");
  if (h.kind > frame_kind::piece)
    throw error(errc::data_loss, "a message of unknown kind " + std::to_string(static_cast<int>(h.kind)));
  const bool may_be_shared =
      h.payload > 0 && (h.kind == frame_kind::request || h.kind == frame_kind::reply || h.kind == frame_kind::notice);
  if (h.shared > (may_be_shared ? frame_header::in_slab : 0))
    throw error(errc::data_loss, "a message says that its bytes lie in shared memory, where payloads do alone");
  if (!h.shared && h.slot > most_slots)
    throw error(errc::data_loss, "a message in pieces has the slot " + std::to_string(h.slot) + "; the last is " +
                                     std::to_string(most_slots));
  if (const auto over = excess_of(h.control, h.payload, allowed))
    throw error(errc::data_loss, "a message announces " + std::to_string(over->bytes) + " bytes of " + over->part +
                                     "; the limit is " + std::to_string(over->limit));
}

PINION_DECL outcome<> may_send(std::uint64_t control, std::uint64_t payload) {
  const auto over = excess_of(control, payload, {});
  if (!over) return {};
  return error(errc::resource_exhausted, "a message of " + std::to_string(over->bytes) + " bytes of " + over->part +
                                             " is more than the " + std::to_string(over->limit) +
                                             " that a task takes at once; a smaller step, or graph, passes");
}

}}}  // namespace pinion::v0::rpc
