// Requests as small numbers: a graph of a million nodes asks for a few devices only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include <pinion/spec/device_spec.hpp>

namespace pinion::inline v0 {

// Specs, each kept once, and what comes of merging two, computed once. Grows; for one thread.
class request_pool {
 public:
  using id = std::uint32_t;
  static constexpr id nothing = 0;

  request_pool() { add({}); }

  id add(const device_spec& spec) {
    if (!specs_.empty() && spec == specs_[last_]) return last_;
    const auto [at, fresh] = ids_.try_emplace(spec, static_cast<id>(specs_.size()));
    if (fresh) specs_.push_back(spec);
    return last_ = at->second;
  }
  const device_spec& operator[](id i) const { return specs_[i]; }

  // Both at once; nothing where they clash. A soft merge gives up a device type or index they do not agree on.
  std::optional<id> merged(id a, id b, bool soft) {
    if (a == b || b == nothing) return a;
    const auto [at, fresh] = merged_.try_emplace({a, b, soft});
    if (fresh)
      if (const auto spec = merge_equals(specs_[a], specs_[b], soft)) at->second = add(*spec);
    return at->second;
  }
  // `a` with what `by` fixes.
  id specialised(id a, id by) { return by == nothing ? a : add(merge(specs_[a], specs_[by])); }
  bool are_comparable(id a, id b) const {
    return a == b || a == nothing || b == nothing || comparable(specs_[a], specs_[b]);
  }

 private:
  static std::optional<device_spec> merge_equals(const device_spec& a, const device_spec& b, bool soft) {
    const auto differ = [](auto x, auto y, auto unset) { return x != unset && y != unset && x != y; };
    if (differ(a.job(), b.job(), std::string_view()) || differ(a.replica(), b.replica(), -1) ||
        differ(a.task(), b.task(), -1))
      return std::nullopt;
    const bool types = differ(a.type(), b.type(), std::string_view());
    const bool indices = differ(a.index(), b.index(), -1);
    if ((types || indices) && !soft) return std::nullopt;
    const device_spec both = merge(b, a);
    return types ? both.with_type("") : indices ? both.with_index(-1) : both;
  }

  struct hash_spec {
    std::size_t operator()(const device_spec& s) const {
      std::size_t h = std::hash<std::string_view>()(s.job());
      for (const std::size_t part : {static_cast<std::size_t>(s.replica()), static_cast<std::size_t>(s.task()),
                                     std::hash<std::string_view>()(s.type()), static_cast<std::size_t>(s.index())})
        h = (h ^ part) * 0x9E3779B97F4A7C15u;
      return h ^ (h >> 32);
    }
  };
  struct pair {
    id a, b;
    bool soft;
    friend bool operator==(const pair&, const pair&) = default;
  };
  struct hash_pair {
    std::size_t operator()(const pair& p) const {
      return std::hash<std::uint64_t>()((std::uint64_t{p.a} << 33 | std::uint64_t{p.b} << 1) + p.soft);
    }
  };

  std::vector<device_spec> specs_;
  id last_ = nothing;
  std::unordered_map<device_spec, id, hash_spec> ids_;
  std::unordered_map<pair, std::optional<id>, hash_pair> merged_;
};

}  // namespace pinion::inline v0
