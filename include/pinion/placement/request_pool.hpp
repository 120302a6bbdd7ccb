// A pool of device requests, each known by a small id: a graph of a million nodes asks for a few devices only.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/spec/device_spec.hpp>

namespace pinion { inline namespace v0 {

// Keeps each spec once, and the result of merging each pair once. Grows; for one thread.
class request_pool {
 public:
  using id = std::uint32_t;
  static constexpr id nothing = 0;

  request_pool() { add({}); }

  id add(const device_spec& spec);
  const device_spec& operator[](id i) const { return specs_[i]; }

  // The request that meets both, or nothing where they clash. A soft merge gives up a device type or index on which
  // they do not agree.
  std::optional<id> merged(id a, id b, bool soft);
  // `a`, but with every field that `by` sets.
  id specialised(id a, id by) { return by == nothing ? a : add(merge(specs_[a], specs_[by])); }
  bool are_comparable(id a, id b) const;

 private:
  static std::optional<device_spec> merge_equals(const device_spec& a, const device_spec& b, bool soft);

  struct hash_spec {
    std::size_t operator()(const device_spec& s) const;
  };
  struct pair {
    id a, b;
    bool soft;
    friend bool operator==(const pair&, const pair&) = default;
  };
  struct hash_pair {
    std::size_t operator()(const pair& p) const;
  };

  std::vector<device_spec> specs_;
  id last_ = nothing;
  std::unordered_map<device_spec, id, hash_spec> ids_;
  std::unordered_map<pair, std::optional<id>, hash_pair> merged_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/request_pool.ipp>
#endif
