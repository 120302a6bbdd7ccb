// The header before every frame: 32 bytes, little-endian. A frame is a message, or a piece of the payload of one.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

enum class frame_kind : std::uint8_t {
  hello,    // part of the handshake
  request,  // answered by a reply or failure with the same id
  reply,
  failure,  // carries an error
  notice,   // not answered
  goodbye,  // the sender closes the connection, and says why
  piece,    // the next bytes of the payload of a message that has begun
};

using method = std::uint16_t;

// The header as it is on the wire.
struct frame_header {
  std::uint16_t magic = expected_magic;
  frame_kind kind{};
  std::uint8_t shared = 0;  // where the payload lies in memory that both ends share, if it does: one of the below
  rpc::method method = 0;
  std::uint16_t slot = 0;     // 0: the payload follows; otherwise it comes in pieces, which have the same slot. Where
                              // it is shared: its first page, or that which tells its place
  std::uint64_t id = 0;       // id of the request
  std::uint64_t control = 0;  // number of bytes of the control part, which follows
  std::uint64_t payload = 0;  // number of bytes of the payload, or of this piece of it

  static constexpr std::uint16_t expected_magic = 0x4e50;  // "PN"
  static constexpr std::uint8_t in_pages = 1, in_slab = 2;
};
static_assert(sizeof(frame_header) == 32 && std::endian::native == std::endian::little);

// The most messages of one direction of a connection whose payloads come in pieces at a time; their slots are the
// numbers from 1 to it.
inline constexpr std::uint16_t most_slots = 16;

// The lengths that a peer may announce, checked before anything is allocated.
struct limits {
  std::uint64_t control = std::uint64_t{256} << 20;
  std::uint64_t payload = std::uint64_t{64} << 30;
};

// A part of a message that exceeds its limit.
struct excess {
  const char* part;
  std::uint64_t bytes, limit;
};
std::optional<excess> excess_of(std::uint64_t control, std::uint64_t payload, const limits& allowed);

void check(const frame_header& h, const limits& allowed);

// Fails for a message that is too large for any peer. It is refused here, since the peer would close the connection for
// everyone who uses it; the error is handed to the one who waits for the answer, and is therefore not thrown.
outcome<> may_send(std::uint64_t control, std::uint64_t payload);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/frame.ipp>
#endif
