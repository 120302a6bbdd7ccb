// The nodes and the memory that a session takes of its server.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/spec/server_limits.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Counts the nodes of a session's graph, and the memory of the graph and the steps, as estimated; what it still counts
// when it ends is given back. The limits hold for sessions of other processes; those of this process are only counted.
// Owned by a session. Refers to the limits. Functions that take nodes or steps are called under the session's own
// locks; the rest is thread-safe.
class session_quota {
 public:
  // `of_all`: the memory of all limited sessions of the server.
  session_quota(const server_limits& limits, std::string task, bool limited,
                std::shared_ptr<std::atomic<std::uint64_t>> of_all)
      : limits_(limits), task_(std::move(task)), limited_(limited), of_all_(std::move(of_all)) {}
  session_quota(const session_quota&) = delete;
  ~session_quota() { give_back(memory_); }

  bool is_limited() const { return limited_; }
  std::uint64_t memory() const { return memory_; }

  // Counts nodes that the graph takes. Throws resource_exhausted unless there is room for them and for so much memory.
  void take_nodes(std::int64_t nodes, std::uint64_t memory);
  // Throws resource_exhausted unless there is room for one more step, beside so many, of so much memory.
  void expect_room_for_step(std::size_t steps, std::uint64_t memory) const;
  void take(std::uint64_t memory);
  void give_back(std::uint64_t memory);

 private:
  // Throws if the session, or all sessions, would take too much.
  void expect_memory(std::uint64_t more) const;

  const server_limits& limits_;
  const std::string task_;
  const bool limited_;
  std::int64_t nodes_ = 0;  // of the graph and of bodies in it
  std::atomic<std::uint64_t> memory_{0};
  const std::shared_ptr<std::atomic<std::uint64_t>> of_all_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/session_quota.ipp>
#endif
