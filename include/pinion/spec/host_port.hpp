// The address of a task, "host:port", in its parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/spec/names.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// True for letters, digits, dots, hyphens and underscores.
constexpr bool is_host_name(std::string_view text) {
  const auto follows = [](char c) {
    return ascii::is_letter(c) || ascii::is_digit(c) || c == '.' || c == '-' || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), follows);
}

// True for hexadecimal digits, colons and dots in brackets, perhaps with % and a zone. Whether they are an address only
// the system can tell.
constexpr bool is_bracketed_ipv6(std::string_view text) {
  if (text.size() < 4 || text.front() != '[' || text.back() != ']') return false;
  text = text.substr(1, text.size() - 2);
  const std::string_view digits = text.substr(0, text.find('%'));
  const std::string_view zone = text.substr(digits.size());
  return digits.find(':') != digits.npos && digits.find_first_not_of("0123456789abcdefABCDEF:.") == digits.npos &&
         (zone.empty() || is_host_name(zone.substr(1)));
}

}  // namespace detail

// The host and the port of an address. It refers to the text that it was made of, which must outlive it. It never
// throws: a text of any other form makes one that is not valid(). An IPv6 host is in brackets, in the text and in
// `host`.
//
//   host_port("10.0.0.1:2222").port                 // 2222
//   host_port("[::1]:0").host                       // "[::1]"; port 0: any free one
//   host_port("localhost").valid()                  // false: an address has a port
struct host_port {
  std::string_view host{};
  int port = -1;

  constexpr host_port() = default;
  // Ports reach up to 65535. The name is not looked up here.
  explicit constexpr host_port(std::string_view address) {
    const std::size_t colon = address.rfind(':');
    if (colon == address.npos) return;
    const std::string_view name = address.substr(0, colon);
    const std::int64_t number = ascii::decimal(address.substr(colon + 1));
    if (number > 65535 || !(detail::is_host_name(name) || detail::is_bracketed_ipv6(name))) return;
    host = name;
    port = static_cast<int>(number);
  }

  // True if the text was an address.
  constexpr bool valid() const { return port >= 0; }

  // True if others can be told to look there: it names a port, and one host. Port 0 asks the system for any free one,
  // and the hosts 0.0.0.0 and [::], in any spelling, stand for all addresses of whoever listens there.
  bool leads_somewhere() const;
  // Is it the machine of whoever looks there: localhost, 127.0.0.1 and the like, [::1]?
  bool is_loopback() const;

  // The address with its host in one spelling of many: 127.1 is 127.0.0.1, [0:0::1] is [::1], and letters of a name are
  // small. Two addresses of one such text are one. Requires: it is valid().
  std::string canonical() const;
  // Its host alone, likewise.
  std::string canonical_host() const;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/spec/host_port.ipp>
#endif
