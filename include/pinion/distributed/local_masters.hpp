// The masters that live in this process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <pinion/distributed/master.hpp>

namespace pinion::inline v0::distributed {

// The masters of this process, by address: a session that targets one of them calls it directly. It must know the key
// all the same.
class local_masters {
 public:
  static local_masters& instance() {
    static local_masters all;
    return all;
  }
  void add(const std::string& address, const std::string& key, std::weak_ptr<master> m) {
    std::lock_guard hold(mutex_);
    masters_[address] = {key, std::move(m)};
  }
  void remove(const std::string& address) {
    std::lock_guard hold(mutex_);
    masters_.erase(address);
  }
  // Null where there is none; throws unauthenticated where there is one with another key.
  std::shared_ptr<master> find(const std::string& address, const std::string& key) {
    std::lock_guard hold(mutex_);
    const auto at = masters_.find(address);
    if (at == masters_.end()) return nullptr;
    if (!rpc::same_proof(at->second.key, key))
      throw rpc::wrong_key("the task at " + address, !at->second.key.empty(), !key.empty());
    return at->second.who.lock();
  }

 private:
  struct guarded {
    std::string key;
    std::weak_ptr<master> who;
  };
  std::mutex mutex_;
  std::map<std::string, guarded> masters_;
};

}  // namespace pinion::inline v0::distributed
