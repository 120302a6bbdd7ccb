// Bodies of <pinion/distributed/master/local_masters.hpp>.
#pragma once

#include <utility>

#include <pinion/base/each_process.hpp>
#include <pinion/base/process.hpp>
#include <pinion/distributed/master/local_masters.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL local_masters& local_masters::instance() {
  return of_each_process<local_masters>();
}

PINION_DECL void local_masters::add(const std::string& address, const rpc::credentials& its, std::weak_ptr<master> m) {
  std::lock_guard hold(mutex_);
  masters_[address] = {its, std::move(m)};
}

PINION_DECL void local_masters::remove(const std::string& address) {
  std::lock_guard hold(mutex_);
  masters_.erase(address);
}

PINION_DECL std::shared_ptr<master> local_masters::find(const std::string& address, const rpc::credentials& given) {
  std::lock_guard hold(mutex_);
  const auto at = masters_.find(address);
  if (at == masters_.end()) return nullptr;
  rpc::check_local("the task at " + address, at->second.its, given);
  return at->second.who.lock();
}

}}}  // namespace pinion::v0::distributed
