// The part of a server that answers sessions.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/master_session.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The sessions of a server. Thread-safe.
class master {
 public:
  explicit master(master_services services) : services_(std::move(services)) {}
  ~master();

  // For a client by its channel; 0: one in this process.
  std::shared_ptr<master_session> open(session_settings settings, std::uint64_t client = 0);
  std::shared_ptr<master_session> find(std::uint64_t handle) const;
  // A session is known to the client that opened it only: others may guess its number.
  std::shared_ptr<master_session> find(std::uint64_t handle, std::uint64_t client) const;
  void cancel_steps(std::uint64_t handle, const error& why);
  // Yields the session that was closed, or null; the caller lets go of it, since a large graph takes a while.
  std::shared_ptr<master_session> close(std::uint64_t handle, const error& why);
  void close_all(const error& why);
  // False where somebody still uses it then.
  bool stop(const error& why, time_point until);
  // Forgets the variables of some containers, or of all, on every task, and closes the sessions of this master. Blocks
  // until every task has done so.
  void reset(const std::vector<std::string>& containers);
  rpc::network& network() { return services_.net; }

 private:
  void expect_running() const;
  error unknown() const;
  error stopping() const;

  master_services services_;
  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::map<std::uint64_t, std::shared_ptr<master_session>> sessions_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/master.ipp>
#endif
