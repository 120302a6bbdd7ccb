// Bodies of <pinion/spec/host_port.hpp>.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>

#include <pinion/spec/host_port.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// An IPv6 host in its shortest form, or as IPv4 where it stands for such an address; the text itself where the system
// does not take it for an address. A zone stays.
inline std::string canonical_ipv6(std::string_view host) {
  const std::string_view inside = host.substr(1, host.size() - 2), digits = inside.substr(0, inside.find('%'));
  in6_addr address{};
  if (::inet_pton(AF_INET6, std::string(digits).c_str(), &address) != 1) return std::string(host);
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool is_ipv4 = IN6_IS_ADDR_V4MAPPED(&address);
  const void* const from = is_ipv4 ? static_cast<const void*>(&address.s6_addr[12]) : &address;
  ::inet_ntop(is_ipv4 ? AF_INET : AF_INET6, from, text.data(), text.size());
  if (is_ipv4) return text.data();
  return "[" + std::string(text.data()) + std::string(inside.substr(digits.size())) + "]";
}

// A name in small letters, without the dot that may end it; or an IPv4 address, of which parts may be left out.
inline std::string canonical_name(std::string_view host) {
  std::string name(host);
  in_addr address{};
  if (::inet_aton(name.c_str(), &address) != 0) {
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &address, text.data(), text.size());
    return text.data();
  }
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (name.size() > 1 && name.back() == '.') name.pop_back();
  return name;
}

}  // namespace detail

PINION_DECL std::string host_port::canonical() const {
  return canonical_host() + ":" + std::to_string(port);
}

PINION_DECL std::string host_port::canonical_host() const {
  return host.front() == '[' ? detail::canonical_ipv6(host) : detail::canonical_name(host);
}

PINION_DECL bool host_port::leads_somewhere() const {
  if (port <= 0) return false;
  const std::string of = canonical_host();
  return of != "0.0.0.0" && of != "[::]";
}

PINION_DECL bool host_port::is_loopback() const {
  if (!valid()) return false;
  const std::string of = canonical_host();
  in_addr number{};
  const bool is_ipv4 = ::inet_pton(AF_INET, of.c_str(), &number) == 1;
  return of == "localhost" || of == "[::1]" || (is_ipv4 && ntohl(number.s_addr) >> 24 == 127);
}

}}  // namespace pinion::v0
