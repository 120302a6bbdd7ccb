// Bodies of <pinion/rpc/opening.hpp>.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <pinion/base/error.hpp>
#include <pinion/base/harmless.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/rpc/opening.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

// The layouts of both messages.
struct opening {
  std::array<char, 4> magic = {'P', 'I', 'N', 'N'};
  versions range = {};
};
struct answered_opening {
  opening mine = {};
  std::uint16_t chosen = 0, length = 0;
};
static_assert(sizeof(opening) == 8 && sizeof(answered_opening) == 12 && std::endian::native == std::endian::little);

inline constexpr std::size_t longest_sentence = 1024;

template <class T>
std::span<std::byte> bytes_of(T& layout) {
  return {reinterpret_cast<std::byte*>(&layout), sizeof layout};
}
inline std::string text_of(const answered_opening& answer, const std::string& sentence) {
  return std::string(reinterpret_cast<const char*>(&answer), sizeof answer) + sentence;
}

PINION_DECL awaitable<void> read_exactly(byte_stream& stream, std::span<std::byte> into) {
  while (!into.empty()) {
    const std::size_t n = co_await stream.read_some(into);
    if (n == 0) throw error(errc::unavailable, "the peer closed the connection during the handshake");
    into = into.subspan(n);
  }
}

PINION_DECL awaitable<void> write_all(byte_stream& stream, const std::string& text) {
  const asio::const_buffer part = asio::buffer(text);
  co_await stream.write({&part, 1});
}

PINION_DECL bool is_tls(std::span<const std::byte> first) {
  return first.size() >= 3 && first[0] == std::byte{0x16} && first[1] == std::byte{3};
}

PINION_DECL bool is_opening(std::span<const std::byte> first) {
  const opening expected;
  return std::memcmp(first.data(), expected.magic.data(), std::min(first.size(), expected.magic.size())) == 0;
}

// Why a server refuses what a client opened with; "": it does not.
inline std::optional<error> objection(const opening& theirs, versions mine, const std::string& name) {
  if (is_tls(std::as_bytes(std::span(&theirs, 1))))
    return error(errc::unauthenticated, "the client speaks TLS, and " + name + " does not");
  if (theirs.magic != opening{}.magic) return error(errc::data_loss, "what connects is no pinion client");
  if (common_version(theirs.range, mine)) return std::nullopt;
  return error(errc::failed_precondition, "the client speaks " + to_string(theirs.range) + " of the protocol, and " +
                                              name + " speaks " + to_string(mine));
}

}  // namespace detail

PINION_DECL std::optional<std::uint16_t> common_version(const versions& a, const versions& b) {
  const auto least = std::max(a.least, b.least), greatest = std::min(a.greatest, b.greatest);
  if (least > greatest || greatest == 0) return std::nullopt;
  return greatest;
}

PINION_DECL std::string to_string(const versions& range) {
  if (range.least == range.greatest) return "version " + std::to_string(range.least);
  return "versions " + std::to_string(range.least) + " to " + std::to_string(range.greatest);
}

PINION_DECL std::string refusal(versions mine, std::string sentence) {
  sentence = harmless(sentence, detail::longest_sentence);
  return detail::text_of({{.range = mine}, 0, static_cast<std::uint16_t>(sentence.size())}, sentence);
}

PINION_DECL awaitable<agreement> open_as_client(byte_stream& stream, versions mine, const std::string& address) {
  detail::opening first{.range = mine};
  const asio::const_buffer part(&first, sizeof first);
  co_await stream.write({&part, 1});
  detail::answered_opening answer;
  co_await detail::read_exactly(stream, detail::bytes_of(answer));
  if (answer.mine.magic != first.magic || answer.length > detail::longest_sentence)
    throw error(errc::data_loss, "what listens at " + address + " is no pinion server");
  std::string sentence(answer.length, '\0');
  co_await detail::read_exactly(stream, std::as_writable_bytes(std::span(sentence)));
  const agreement made{mine, answer.mine.range, answer.chosen};
  const auto common = common_version(mine, made.server);
  if (made.chosen != 0 && common != made.chosen)
    throw error(errc::data_loss, "the server at " + address + " chooses version " + std::to_string(made.chosen) +
                                     " of the protocol, and this side speaks " + to_string(mine));
  if (made.chosen == 0) throw error(common ? errc::unauthenticated : errc::failed_precondition, sentence);
  co_return made;
}

PINION_DECL awaitable<agreement> open_as_server(byte_stream& stream, versions mine, const std::string& name) {
  detail::opening theirs;
  co_await detail::read_exactly(stream, detail::bytes_of(theirs));
  if (const auto why = detail::objection(theirs, mine, name)) {
    co_await detail::write_all(stream, refusal(mine, why->sentence()));
    throw error(*why);
  }
  const agreement made{theirs.range, mine, *common_version(theirs.range, mine)};
  co_await detail::write_all(stream, detail::text_of({{.range = mine}, made.chosen, 0}, ""));
  co_return made;
}

}}}  // namespace pinion::v0::rpc
