// The part of a server that answers sessions.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/master_session.hpp>

namespace pinion::inline v0::distributed {

// The sessions of a server. Thread-safe.
class master {
 public:
  explicit master(master_services services) : services_(std::move(services)) {}
  ~master() { stop(error(errc::unavailable, "the server was stopped"), time_point::max()); }

  // For a client by its channel; 0: one in this process.
  std::shared_ptr<master_session> open(session_settings settings, std::uint64_t client = 0) {
    std::lock_guard hold(mutex_);
    if (stopped_) throw stopping();
    std::uint64_t handle = 0;
    while (handle == 0 || sessions_.count(handle)) handle = rpc::random_number() & 0xffffffffu;
    auto s = std::make_shared<master_session>(services_, handle, client, std::move(settings));
    sessions_.emplace(handle, s);
    return s;
  }
  std::shared_ptr<master_session> find(std::uint64_t handle) const {
    std::lock_guard hold(mutex_);
    const auto at = sessions_.find(handle);
    if (at == sessions_.end()) throw unknown();
    return at->second;
  }
  // A session is known to the client that opened it only: others may guess its number.
  std::shared_ptr<master_session> find(std::uint64_t handle, std::uint64_t client) const {
    auto found = find(handle);
    if (found->client() != client) throw unknown();
    return found;
  }
  void cancel_steps(std::uint64_t handle, const error& why) {
    std::shared_ptr<master_session> s;
    {
      std::lock_guard hold(mutex_);
      if (const auto at = sessions_.find(handle); at != sessions_.end()) s = at->second;
    }
    if (s) s->cancel_steps(why);
  }
  // Yields the session that was closed, or null; the caller lets go of it, since a large graph takes a while.
  std::shared_ptr<master_session> close(std::uint64_t handle, const error& why) {
    std::shared_ptr<master_session> s;
    {
      std::lock_guard hold(mutex_);
      const auto at = sessions_.find(handle);
      if (at == sessions_.end()) return nullptr;
      s = std::move(at->second);
      sessions_.erase(at);
    }
    s->close(why);
    return s;
  }
  void close_all(const error& why) {
    std::map<std::uint64_t, std::shared_ptr<master_session>> all;
    {
      std::lock_guard hold(mutex_);
      all.swap(sessions_);
    }
    for (const auto& [handle, s] : all) s->close(why);
  }
  // False where somebody still uses it then.
  bool stop(const error& why, time_point until) {
    {
      std::lock_guard hold(mutex_);
      stopped_ = true;
    }
    close_all(why);
    return services_.in_use->wait_until_none(until);
  }
  // Forgets the variables of some containers, or of all, on every task, and closes the sessions of this master. Blocks
  // until every task has done so.
  void reset(const std::vector<std::string>& containers) {
    const users::one using_server(services_.in_use);
    expect_running();
    close_all(error(errc::aborted, "the session was closed: the state of its cluster was reset"));
    services_.here.reset(containers);
    for (const auto& task : services_.peers.names()) {
      if (task == services_.name) continue;
      const auto way = services_.peers.way_to(task);
      const wait_options how{
          .what = {}, .until = services_.net.now() + std::chrono::seconds(10), .check = [this] { expect_running(); }};
      connect_and_wait(services_.net, way, how);
      ask_and_wait<nothing>(services_.net, way, reset_containers{containers}, how);
    }
  }
  rpc::network& network() { return services_.net; }

 private:
  void expect_running() const {
    std::lock_guard hold(mutex_);
    if (stopped_) throw stopping();
  }
  error unknown() const {
    return error(errc::aborted,
                 services_.name + " does not know this session: it was restarted, or the session was closed");
  }
  error stopping() const { return error(errc::unavailable, services_.name + " is being stopped"); }

  master_services services_;
  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::map<std::uint64_t, std::shared_ptr<master_session>> sessions_;
};

}  // namespace pinion::inline v0::distributed
