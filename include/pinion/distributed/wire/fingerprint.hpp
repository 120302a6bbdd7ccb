// Fingerprints of graphs: what is said of a graph to a task that may hold it already.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/graph.hpp>
#include <pinion/distributed/wire/subgraph.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The SHA-256 of the bytes in which a graph goes over the wire, their number, and the life of the task to which it
// goes. So only one who has the graph can tell it, and it is worth nothing at another task, or once that one has been
// restarted. A value.
struct fingerprint {
  std::array<std::uint64_t, 4> words{};

  friend auto operator<=>(const fingerprint&, const fingerprint&) = default;
  template <class A>
  void serialize(A& a) {
    a(words[0], words[1], words[2], words[3]);
  }
};

// A graph's fingerprint, and its bytes on the wire.
struct imprint {
  fingerprint of;
  std::uint64_t bytes = 0;

  // Is it worth a question before it is sent, and memory afterwards?
  bool is_large() const { return bytes >= std::uint64_t{16} << 10; }
};

// Returns the imprint of a delta, or of the nodes of a subgraph, for a task in that life. What a subgraph's partitions
// do is not in it: two sessions seldom name their transfers alike.
imprint imprint_of(const graph_delta& delta, std::uint64_t life);
imprint imprint_of(const subgraph& part, std::uint64_t life);

// Returns the fingerprint of a graph that had one, and was extended by a delta with another.
fingerprint extended(const fingerprint& before, const fingerprint& delta);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/fingerprint.ipp>
#endif
