// The state of one task: variables and queues, by container and name.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/services.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The resources of one task. Owned by the task. Thread-safe.
class local_resource_manager final : public resource_manager {
 public:
  std::shared_ptr<resource> find_or_create(const std::string& container, const std::string& name,
                                           const std::function<std::shared_ptr<resource>()>& make) override;
  // Forgets the resources of one container, or of all; kernels that hold one keep it alive.
  void clear(const std::string& container);
  void clear();
  // A resource, and where it is kept.
  struct named_resource {
    std::string container, name;
    std::shared_ptr<resource> what;
  };
  // The resources that there are, by container and name.
  std::vector<named_resource> list();
  // The bytes of the values that the resources hold.
  std::int64_t bytes();

 private:
  // One resource. It is made once, under a lock of its own, so that others can be found meanwhile.
  struct kept_resource {
    std::mutex making;
    std::shared_ptr<resource> made;
  };
  std::shared_ptr<kept_resource> kept(const std::string& container, const std::string& name);

  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<kept_resource>> resources_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/resource_manager.ipp>
#endif
