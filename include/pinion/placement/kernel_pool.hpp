// Kernel lists as small numbers: which device types can run a node, or all nodes of a group, the best first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <pinion/placement/device_info.hpp>
#include <pinion/placement/op_knowledge.hpp>

namespace pinion::inline v0 {

// TensorFlow's order of device types: accelerators, then CPUs, then those that compile for them.
inline int rank_of_type(std::string_view type) {
  if (type == "GPU") return 210;
  if (type == "SYCL") return 200;
  if (type == "CPU") return 60;
  return type == "XLA_CPU" || type == "XLA_GPU" ? 50 : -1;
}

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

  explicit kernel_pool(const std::vector<device_info>& devices) {
    for (const device_info& d : devices)
      if (index_of(d.spec.type()) < 0) types_.emplace_back(d.spec.type());
    std::sort(types_.begin(), types_.end(), [](const std::string& a, const std::string& b) {
      return std::pair(-rank_of_type(a), std::string_view(a)) < std::pair(-rank_of_type(b), std::string_view(b));
    });
    add({});
  }

  const std::vector<std::string>& types() const { return types_; }
  int index_of(std::string_view type) const {
    const auto at = std::find(types_.begin(), types_.end(), type);
    return at == types_.end() ? -1 : static_cast<int>(at - types_.begin());
  }
  const list& operator[](id i) const { return lists_[i]; }

  // Those kernels for which there is a device.
  id of(const op_facts& facts) {
    const auto [at, fresh] = known_.try_emplace(&facts, none);
    if (!fresh) return at->second;
    list found;
    for (const kernel_on& k : facts.kernels)
      if (const int type = index_of(k.device_type); type >= 0) found.push_back({type, k.priority});
    return at->second = add(std::move(found));
  }
  // Every type, or the one that is asked for.
  id any(std::string_view type) {
    list found;
    for (int t = 0; t < static_cast<int>(types_.size()); ++t)
      if (type.empty() || types_[static_cast<std::size_t>(t)] == type) found.push_back({t, 0});
    return add(std::move(found));
  }

  // What both can run on. The priorities of the side that has some hold; where both have and disagree, none do.
  id common(id a, id b) {
    if (a == b) return a;
    const auto [at, fresh] = common_.try_emplace(std::uint64_t{a} << 32 | b, none);
    if (!fresh) return at->second;
    list mine = kept_in(a, b), theirs = kept_in(b, a);
    if (!prioritized(mine)) {
      if (prioritized(theirs)) mine = theirs;
    } else if (prioritized(theirs) && !same_order(mine, theirs)) {
      for (entry& e : mine) e.priority = 0;
    }
    return at->second = add(std::move(mine));
  }

 private:
  id add(list l) {
    std::sort(l.begin(), l.end(), [](const entry& a, const entry& b) {
      return a.priority != b.priority ? a.priority > b.priority : a.type < b.type;
    });
    const auto [at, fresh] = ids_.try_emplace(l, static_cast<id>(lists_.size()));
    if (fresh) lists_.push_back(std::move(l));
    return at->second;
  }
  list kept_in(id from, id other) const {
    list found;
    for (const entry& e : lists_[from])
      if (std::any_of(lists_[other].begin(), lists_[other].end(), [&](const entry& o) { return o.type == e.type; }))
        found.push_back(e);
    return found;
  }
  static bool prioritized(const list& l) {
    return std::any_of(l.begin(), l.end(), [](const entry& e) { return e.priority != 0; });
  }
  static bool same_order(const list& a, const list& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto& x, auto& y) { return x.type == y.type; });
  }

  std::vector<std::string> types_;
  std::vector<list> lists_;
  std::map<list, id> ids_;
  std::unordered_map<const op_facts*, id> known_;
  std::unordered_map<std::uint64_t, id> common_;
};

}  // namespace pinion::inline v0
