// A pool of kernel lists, each known by a small id: the device types that can run a node, or all nodes of a group.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/device_info.hpp>
#include <pinion/placement/op_knowledge.hpp>

namespace pinion { inline namespace v0 {

// The rank of a device type, higher for better ones. TensorFlow's order: accelerators, CPUs, compilers for these.
int rank_of_type(std::string_view type);

// Keeps the types of some devices, and each list of them once, the best type first. Grows; for one thread.
class kernel_pool {
 public:
  using id = std::uint32_t;
  struct entry {
    int type;  // an index in types(): a smaller one is better
    int priority;
    friend bool operator==(const entry&, const entry&) = default;
    friend auto operator<=>(const entry&, const entry&) = default;
  };
  using list = std::vector<entry>;
  static constexpr id none = 0;

  explicit kernel_pool(const std::vector<device_info>& devices);

  const std::vector<std::string>& types() const { return types_; }
  int index_of(std::string_view type) const;
  const list& operator[](id i) const { return lists_[i]; }

  // The kernels of an op for whose type there is a device.
  id of(const op_facts& facts);
  // All types, or the one that is named.
  id any(std::string_view type);

  // The types that are in both lists. If one list has priorities they hold; if both have and disagree, none hold.
  id common(id a, id b);

 private:
  id add(list l);
  list kept_in(id from, id other) const;
  static bool prioritized(const list& l);
  static bool same_order(const list& a, const list& b);

  std::vector<std::string> types_;
  std::vector<list> lists_;
  std::map<list, id> ids_;
  std::unordered_map<const op_facts*, id> known_;
  std::unordered_map<std::uint64_t, id> common_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/kernel_pool.ipp>
#endif
