// The state of one task: variables and queues, by container and name.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <pinion/op/services.hpp>

namespace pinion::inline v0::runtime {

class local_resource_manager final : public resource_manager {
 public:
  std::shared_ptr<resource> find_or_create(const std::string& container, const std::string& name,
                                           const std::function<std::shared_ptr<resource>()>& make) override {
    std::lock_guard hold(mutex_);
    auto& found = resources_[{container, name}];
    if (!found) found = make();
    return found;
  }
  // Forgets the resources of a container; kernels that hold one keep it until they go.
  void clear(const std::string& container) {
    std::lock_guard hold(mutex_);
    std::erase_if(resources_, [&](const auto& item) { return item.first.first == container; });
  }
  void clear() {
    std::lock_guard hold(mutex_);
    resources_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<resource>> resources_;
};

}  // namespace pinion::inline v0::runtime
