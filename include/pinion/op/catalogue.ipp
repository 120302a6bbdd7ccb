// Bodies of <pinion/op/catalogue.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <pinion/base/near_name.hpp>
#include <pinion/base/process.hpp>
#include <pinion/op/catalogue.hpp>
#include <pinion/opkit/registry.hpp>

namespace pinion { inline namespace v0 {

namespace detail {
PINION_DECL const std::unordered_map<std::string_view, definition>& definitions() {
  return table_of_this_process([] {
    std::unordered_map<std::string_view, definition> all;
    for_each_type(op::catalogue{}, [&]<class Op>() { all.emplace(Op::name, define<Op>()); });
    return all;
  });
}
}  // namespace detail

PINION_DECL const definition& definition_of(std::string_view op) {
  const auto at = detail::definitions().find(op);
  if (at != detail::definitions().end()) return at->second;
  if (const registered_op* const own = find_registered(op)) return own->def;
  std::vector<std::string_view> names;
  for (const auto& [name, def] : detail::definitions()) names.push_back(name);
  for (auto* own = registered_ops.load(std::memory_order_acquire); own; own = own->next) names.push_back(own->def.name);
  std::sort(names.begin(), names.end());
  throw error(errc::not_found, "this program knows no op '" + std::string(op) +
                                   "'; pn::register_op makes one known, in every program that runs it" +
                                   did_you_mean(op, names));
}

PINION_DECL bool is_library_op(std::string_view op) {
  return detail::definitions().count(op) == 1;
}

}}  // namespace pinion::v0
