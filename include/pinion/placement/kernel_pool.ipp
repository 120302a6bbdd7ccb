// Bodies of <pinion/placement/kernel_pool.hpp>.
#pragma once

#include <algorithm>

#include <pinion/placement/kernel_pool.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL int rank_of_type(std::string_view type) {
  if (type == "GPU") return 210;
  if (type == "SYCL") return 200;
  if (type == "CPU") return 60;
  return type == "XLA_CPU" || type == "XLA_GPU" ? 50 : -1;
}

PINION_DECL kernel_pool::kernel_pool(const std::vector<device_info>& devices) {
  for (const device_info& d : devices)
    if (index_of(d.spec.type()) < 0) types_.emplace_back(d.spec.type());
  std::sort(types_.begin(), types_.end(), [](const std::string& a, const std::string& b) {
    return std::pair(-rank_of_type(a), std::string_view(a)) < std::pair(-rank_of_type(b), std::string_view(b));
  });
  add({});
}

PINION_DECL int kernel_pool::index_of(std::string_view type) const {
  const auto at = std::find(types_.begin(), types_.end(), type);
  return at == types_.end() ? -1 : static_cast<int>(at - types_.begin());
}

PINION_DECL kernel_pool::id kernel_pool::of(const op_facts& facts) {
  const auto [at, fresh] = known_.try_emplace(&facts, none);
  if (!fresh) return at->second;
  list found;
  for (const kernel_on& k : facts.kernels)
    if (const int type = index_of(k.device_type); type >= 0) found.push_back({type, k.priority});
  return at->second = add(std::move(found));
}

PINION_DECL kernel_pool::id kernel_pool::any(std::string_view type) {
  list found;
  for (int t = 0; t < static_cast<int>(types_.size()); ++t)
    if (type.empty() || types_[static_cast<std::size_t>(t)] == type) found.push_back({t, 0});
  return add(std::move(found));
}

PINION_DECL kernel_pool::id kernel_pool::common(id a, id b) {
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

PINION_DECL kernel_pool::id kernel_pool::add(list l) {
  std::sort(l.begin(), l.end(), [](const entry& a, const entry& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.type < b.type;
  });
  const auto [at, fresh] = ids_.try_emplace(l, static_cast<id>(lists_.size()));
  if (fresh) lists_.push_back(std::move(l));
  return at->second;
}

PINION_DECL kernel_pool::list kernel_pool::kept_in(id from, id other) const {
  list found;
  for (const entry& e : lists_[from])
    if (std::any_of(lists_[other].begin(), lists_[other].end(), [&](const entry& o) { return o.type == e.type; }))
      found.push_back(e);
  return found;
}

PINION_DECL bool kernel_pool::prioritized(const list& l) {
  return std::any_of(l.begin(), l.end(), [](const entry& e) { return e.priority != 0; });
}

PINION_DECL bool kernel_pool::same_order(const list& a, const list& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto& x, auto& y) { return x.type == y.type; });
}

}}  // namespace pinion::v0
