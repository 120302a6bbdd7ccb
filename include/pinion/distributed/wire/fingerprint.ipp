// Bodies of <pinion/distributed/wire/fingerprint.hpp>.
#pragma once

#include <string_view>

#include <pinion/distributed/wire/fingerprint.hpp>
#include <pinion/rpc/security/digest.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

namespace detail {

inline std::uint64_t payload_of(const rpc::writer& out) {
  std::uint64_t sum = 0;
  for (const rpc::part& p : out.parts) sum += p.bytes;
  return sum;
}

// The kind keeps apart what has the same bytes and another meaning.
inline imprint imprint_of(std::string_view kind, const rpc::writer& out, std::uint64_t life) {
  const std::uint64_t payload = payload_of(out);
  rpc::digest all;
  all.add(kind).add(life).add(out.control.size()).add(payload).add(out.control);
  for (const rpc::part& p : out.parts) all.add(std::string_view(reinterpret_cast<const char*>(p.data), p.bytes));
  return {{all.take()}, out.control.size() + payload};
}

}  // namespace detail

PINION_DECL imprint imprint_of(const graph_delta& delta, std::uint64_t life) {
  rpc::writer out;
  out(delta);
  return detail::imprint_of("graph", out, life);
}

PINION_DECL imprint imprint_of(const subgraph& part, std::uint64_t life) {
  rpc::writer out;
  out(part.nodes, part.stub);
  return detail::imprint_of("nodes", out, life);
}

PINION_DECL fingerprint extended(const fingerprint& before, const fingerprint& delta) {
  rpc::digest both;
  both.add("chain");
  for (const auto& one : {before, delta})
    for (const std::uint64_t word : one.words) both.add(word);
  return {both.take()};
}

}}}  // namespace pinion::v0::distributed
