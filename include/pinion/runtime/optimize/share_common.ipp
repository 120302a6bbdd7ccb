// Bodies of <pinion/runtime/optimize/share_common.hpp>.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include <pinion/graph/attribute_value.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/runtime/optimize/share_common.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

// Tensors are compared up to this size, since two large constants are rarely equal.
inline bool same_tensor(const any_tensor& a, const any_tensor& b) {
  constexpr std::size_t most = 1 << 16;
  if (a.empty() || b.empty() || a.dtype() != b.dtype() || !(a.shape() == b.shape())) return a.empty() && b.empty();
  if (a.dtype() == dtype::string) return a == b;
  return a.raw() == b.raw() || (a.bytes() <= most && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

inline bool same_attribute(const attribute& a, const attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<class T>(const T& x) {
        const T& y = *b.get_if<T>();
        if constexpr (std::is_same_v<T, any_tensor>)
          return same_tensor(x, y);
        else if constexpr (std::is_same_v<T, double>)
          return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
        else if constexpr (std::is_same_v<T, op::shared_program>)
          return x == y || (scalar::same_structure(*x, *y) && x->literals == y->literals);
        else
          return x == y;
      },
      a.value().held);
}

inline bool same_attributes(const attributes& a, const attributes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.name == y.name && same_attribute(x.value, y.value); });
}

// Constants differ only in their values, so the hash mixes the first bytes of each.
inline std::size_t hash_of(const draft::item& it) {
  std::size_t h = std::hash<std::string>{}(it.node.op) + static_cast<std::size_t>(it.device);
  const auto mix = [&h](std::size_t more) { h = h * 1099511628211u + more; };
  for (const output& in : it.node.inputs)
    mix((static_cast<std::size_t>(in.node) << 8) + static_cast<std::size_t>(in.index));
  for (const output_type& type : it.node.outputs)
    for (const std::int64_t extent : type.shape.dims()) mix(static_cast<std::size_t>(extent));
  for (const auto& [name, value] : it.node.attrs)
    if (const auto* t = value.get_if<any_tensor>(); t && !t->empty() && t->dtype() != dtype::string)
      mix(std::hash<std::string_view>{}({static_cast<const char*>(t->raw()), std::min<std::size_t>(t->bytes(), 256)}));
  return h;
}

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL int share_common(draft& d) {
  std::unordered_multimap<std::size_t, node_id> seen;
  int shared = 0;
  for (node_id i = 0; i < d.size(); ++i) {
    d.redirect(i);
    if (!d.runs(i) || d.node_at(i).outputs.empty() || !d.is_repeatable(i)) continue;
    const std::size_t hash = detail::hash_of(d[i]);
    const auto same = [&](node_id other) {
      const node &a = d.node_at(i), &b = d.node_at(other);
      return a.op == b.op && d[i].device == d[other].device && a.inputs == b.inputs &&
             a.control_inputs == b.control_inputs && detail::same_attributes(a.attrs, b.attrs);
    };
    const auto [first, last] = seen.equal_range(hash);
    const auto twin = std::find_if(first, last, [&](const auto& entry) { return same(entry.second); });
    if (twin == last) {
      seen.emplace(hash, i);
    } else {
      d.replace(i, twin->second);
      ++shared;
    }
  }
  d.redirect_ends();
  return shared;
}

}}}  // namespace pinion::v0::runtime
