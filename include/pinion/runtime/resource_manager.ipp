// Bodies of <pinion/runtime/resource_manager.hpp>.
#pragma once

#include <pinion/runtime/resource_manager.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL std::shared_ptr<resource> local_resource_manager::find_or_create(
    const std::string& container, const std::string& name, const std::function<std::shared_ptr<resource>()>& make) {
  const auto one = kept(container, name);
  std::lock_guard one_makes_it(one->making);
  if (!one->made) one->made = make();
  return one->made;
}

PINION_DECL void local_resource_manager::clear(const std::string& container) {
  std::lock_guard hold(mutex_);
  std::erase_if(resources_, [&](const auto& item) { return item.first.first == container; });
}

PINION_DECL void local_resource_manager::clear() {
  std::lock_guard hold(mutex_);
  resources_.clear();
}

PINION_DECL std::vector<local_resource_manager::named_resource> local_resource_manager::list() {
  decltype(resources_) kept;
  {
    std::lock_guard hold(mutex_);
    kept = resources_;
  }
  std::vector<named_resource> all;
  for (const auto& [key, one] : kept) {
    std::lock_guard hold(one->making);
    if (one->made) all.push_back({key.first, key.second, one->made});
  }
  return all;
}

PINION_DECL std::int64_t local_resource_manager::bytes() {
  std::int64_t sum = 0;
  for (const auto& one : list()) sum += one.what->bytes();
  return sum;
}

PINION_DECL std::shared_ptr<local_resource_manager::kept_resource> local_resource_manager::kept(
    const std::string& container, const std::string& name) {
  std::lock_guard hold(mutex_);
  auto& one = resources_[{container, name}];
  if (!one) one = std::make_shared<kept_resource>();
  return one;
}

}}}  // namespace pinion::v0::runtime
