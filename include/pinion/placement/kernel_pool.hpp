// Kernel lists as small numbers: which device types can run a node, or all nodes of a group, the best first.
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

// TensorFlow's order of device types: accelerators, then CPUs, then those that compile for them.
int rank_of_type(std::string_view type);

// The types of some devices and lists of them, each kept once. Grows; for one thread.
class kernel_pool {
 public:
  using id = std::uint32_t;
  struct entry {
    int type;  // in types(), which are in order: a smaller one is better
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

  // Those kernels for which there is a device.
  id of(const op_facts& facts);
  // Every type, or the one that is asked for.
  id any(std::string_view type);

  // What both can run on. The priorities of the side that has some hold; where both have and disagree, none do.
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
