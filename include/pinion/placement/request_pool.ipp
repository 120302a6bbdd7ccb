// Bodies of <pinion/placement/request_pool.hpp>.
#pragma once

#include <functional>

#include <pinion/placement/request_pool.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL request_pool::id request_pool::add(const device_spec& spec) {
  if (!specs_.empty() && spec == specs_[last_]) return last_;
  const auto [at, fresh] = ids_.try_emplace(spec, static_cast<id>(specs_.size()));
  if (fresh) specs_.push_back(spec);
  return last_ = at->second;
}

PINION_DECL std::optional<request_pool::id> request_pool::merged(id a, id b, bool soft) {
  if (a == b || b == nothing) return a;
  const auto [at, fresh] = merged_.try_emplace({a, b, soft});
  if (fresh)
    if (const auto spec = merge_equals(specs_[a], specs_[b], soft)) at->second = add(*spec);
  return at->second;
}

PINION_DECL bool request_pool::are_comparable(id a, id b) const {
  return a == b || a == nothing || b == nothing || comparable(specs_[a], specs_[b]);
}

PINION_DECL std::optional<device_spec> request_pool::merge_equals(const device_spec& a, const device_spec& b,
                                                                  bool soft) {
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

PINION_DECL std::size_t request_pool::hash_spec::operator()(const device_spec& s) const {
  std::size_t h = std::hash<std::string_view>()(s.job());
  for (const std::size_t part : {static_cast<std::size_t>(s.replica()), static_cast<std::size_t>(s.task()),
                                 std::hash<std::string_view>()(s.type()), static_cast<std::size_t>(s.index())})
    h = (h ^ part) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 32);
}

PINION_DECL std::size_t request_pool::hash_pair::operator()(const pair& p) const {
  return std::hash<std::uint64_t>()((std::uint64_t{p.a} << 33 | std::uint64_t{p.b} << 1) + p.soft);
}

}}  // namespace pinion::v0
