// The graphs that a task was sent, for those who send them again.
//
// Invariants
//   1. A graph was checked before it is kept, and its fingerprint was computed here, never believed.
//   2. Nothing is freed while the lock is held.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/fingerprint.hpp>
#include <pinion/spec/server_limits.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Graphs, and extensions of graphs, by fingerprint. Owned by a worker. Thread-safe. It holds no more than the task's
// limits allow (kept_graphs, kept_graph_bytes): beyond one, that goes which was not used for longest, of the sender who
// has most. Whoever uses a graph shares it, and keeps it when it goes from here.
class kept_graphs {
 public:
  // `life` is that of the task; all fingerprints here are for it.
  kept_graphs(const server_limits& limits, std::uint64_t life)
      : most_(static_cast<std::size_t>(limits.kept_graphs)), most_bytes_(limits.kept_graph_bytes), life_(life) {}

  std::uint64_t life() const { return life_; }

  // Returns what was added under the fingerprint as that type; null: it is not here.
  template <class T>
  std::shared_ptr<const T> find(const fingerprint& of) {
    return std::static_pointer_cast<const T>(found({typeid(T), of}));
  }
  // Keeps a graph of so much memory, as estimated, unless it alone is too much. A sender is a task, or the host of
  // clients.
  template <class T>
  void add(const fingerprint& of, std::shared_ptr<const T> what, std::uint64_t memory, std::string sender) {
    put({typeid(T), of}, {std::move(what), memory, std::move(sender)});
  }

  std::size_t count() const;
  std::uint64_t bytes() const;

 private:
  using name = std::pair<std::type_index, fingerprint>;
  struct entry {
    std::shared_ptr<const void> what;
    std::uint64_t memory = 0;
    std::string sender = {};
    std::uint64_t used = 0;  // the count of uses when it was used last
  };
  using table = std::map<name, entry>;

  std::shared_ptr<const void> found(const name& of);
  void put(const name& of, entry what);
  // Requires, for the rest: the lock is held. Moves what must go out of the table.
  std::vector<entry> make_room();
  std::string sender_with_most(const std::function<std::uint64_t(const entry&)>& weight) const;
  table::iterator oldest_of(const std::string& sender);

  const std::size_t most_;
  const std::uint64_t most_bytes_, life_;
  mutable std::mutex mutex_;
  table all_;
  std::uint64_t bytes_ = 0, uses_ = 0;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/kept_graphs.ipp>
#endif
