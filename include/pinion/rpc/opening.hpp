// The first bytes of a connection: which versions of the protocol each side speaks.
//
//   client                         server
//     |  magic, least, greatest      |
//     | ---------------------------> |
//     |  magic, least, greatest,     |
//     |  chosen, length, sentence    |
//     | <--------------------------- |
//
// This layout is the same in every version, so that peers of any two versions understand each other this far. All
// numbers are little-endian and of 16 bits. `chosen` is the greatest version that both sides speak; 0 is a refusal,
// and the sentence (UTF-8, at most 1024 bytes) says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// A range of versions of the protocol, both ends of which are in it.
struct versions {
  std::uint16_t least = 0, greatest = 0;
};
// The versions that this program speaks.
inline constexpr versions spoken_versions{12, 12};

// Returns the greatest version of both ranges, or nothing.
std::optional<std::uint16_t> common_version(const versions& a, const versions& b);
// Returns "version 2" or "versions 2 to 5".
std::string to_string(const versions& range);

// The ranges of both sides, and the version that they agreed on.
struct agreement {
  versions client = {}, server = {};
  std::uint16_t chosen = 0;
};

// Performs the client's side. Throws failed_precondition with the server's sentence if no version is common, and
// unauthenticated with it if the server refuses for another reason; data_loss if what answers is no pinion server.
awaitable<agreement> open_as_client(byte_stream& stream, versions mine, const std::string& address);

// Performs the server's side. Refuses, and then throws, failed_precondition if no version is common, and data_loss or
// unauthenticated if the first bytes are not a client's. `name` is the server's task.
awaitable<agreement> open_as_server(byte_stream& stream, versions mine, const std::string& name);

// The bytes of a refusal in the layout above, for servers that read no further.
std::string refusal(versions mine, std::string sentence);

namespace detail {
// Reads exactly `into`, during a handshake.
awaitable<void> read_exactly(byte_stream& stream, std::span<std::byte> into);
awaitable<void> write_all(byte_stream& stream, const std::string& text);
// Do bytes begin like a handshake of TLS?
bool is_tls(std::span<const std::byte> first);
// Do bytes begin like an opening, as far as they go? Requires: there is one at least.
bool is_opening(std::span<const std::byte> first);
}  // namespace detail

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/opening.ipp>
#endif
