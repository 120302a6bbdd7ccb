// The requests of clients that a server has not yet worked off.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/spec/server_limits.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The bytes and runs of each client, and of all, that a server holds at present, and their limits. Owned by a server,
// and used in the network's thread; shares may be destroyed in any thread.
class quotas {
 public:
  quotas(std::string task, const server_limits& limits) : task_(std::move(task)), limits_(limits) {}

  // A part of what a client asks for: it counts until this is destroyed.
  using share = std::shared_ptr<void>;
  // Counts a message of so many bytes. Throws resource_exhausted if the client sends, or all send, more than is worked
  // off.
  share of_message(std::uint64_t client, std::uint64_t bytes);
  // Counts a message that is not looked into. Throws also if its payload alone takes more memory than a session may.
  share of_unread(std::uint64_t client, std::uint64_t control, std::uint64_t payload);
  // Counts a run. Throws resource_exhausted for one too many.
  share of_run(std::uint64_t client);
  // Counts a run for a task, whose master runs the steps of many clients: those of all clients limit it.
  share of_run_of_task(std::uint64_t channel);
  // The bytes and runs of one client.
  struct taken {
    std::uint64_t bytes = 0;
    int runs = 0;
  };
  taken by(std::uint64_t client) const;
  // The bytes of the messages of all clients.
  std::uint64_t bytes() const;
  // Forgets a client that is gone. Returns whether it had asked for anything.
  bool forget(std::uint64_t client) { return each_.erase(client) > 0; }

 private:
  struct quota {
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<int> runs{0};
  };
  std::shared_ptr<quota> of(std::uint64_t client);
  share counted(const std::shared_ptr<quota>& one) const;
  error too_much(const std::string& what, const std::string& limit) const;

  const std::string task_;
  const server_limits limits_;
  std::map<std::uint64_t, std::shared_ptr<quota>> each_;
  const std::shared_ptr<quota> all_ = std::make_shared<quota>();
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/quotas.ipp>
#endif
