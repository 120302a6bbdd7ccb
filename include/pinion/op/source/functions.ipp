// Bodies of <pinion/op/source/functions.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/graph/device_guard.hpp>
#include <pinion/op/source/functions.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL node_request constant_request(any_tensor value, std::string_view name, source_location where) {
  return {.op = op::constant::name,
          .base_name = std::string(name.empty() ? op::constant::name : name),
          .attrs = {{"value", std::move(value)}},
          .where = where};
}

PINION_DECL node_request fill_request(const shape& extent, any_tensor value, std::string_view name,
                                      source_location where) {
  if (value.dtype() != dtype::string && countable(extent) && extent.count() > most_stored)
    return {.op = op::fill::name,
            .base_name = std::string(name.empty() ? op::fill::name : name),
            .attrs = {{"value", std::move(value)}, {"shape", extent}},
            .where = where};
  any_tensor all(value.dtype(), extent);
  visit_element(value.dtype(), [&]<class Element>() {
    std::fill_n(static_cast<Element*>(all.raw()), all.count(), *static_cast<const Element*>(value.raw()));
  });
  return constant_request(std::move(all), name, where);
}

PINION_DECL output make_filled(const shape& extent, any_tensor value, const std::string& exact_name,
                               source_location where) {
  node_request request = fill_request(extent, std::move(value), "", where);
  request.exact_name = exact_name;
  return {build(default_graph(), std::move(request)), 0};
}

PINION_DECL output make_constant(any_tensor value, const std::string& exact_name, source_location where) {
  node_request request = constant_request(std::move(value), "", where);
  request.exact_name = exact_name;
  return {build(default_graph(), std::move(request)), 0};
}

}}}  // namespace pinion::v0::dsl

namespace pinion { inline namespace v0 {

namespace detail {

// The device that all of the operations ask for; an empty one where they ask for several, or none does.
inline device_spec common_request(std::initializer_list<operation> ops) {
  if (ops.size() == 0) return {};
  const device_spec& first = ops.begin()->requested_device();
  const bool is_one =
      std::all_of(ops.begin(), ops.end(), [&](const operation& o) { return o.requested_device() == first; });
  return is_one ? first : device_spec();
}

}  // namespace detail

PINION_DECL operation group(std::initializer_list<operation> ops, std::string_view name, source_location where) {
  graph& g = ops.size() ? ops.begin()->owner() : default_graph();
  node_request request{.op = op::no_op::name, .base_name = std::string(name), .where = where};
  for (const operation& o : ops) request.control_inputs.push_back(o.id(g, "the first of the group"));
  const device_spec there = detail::common_request(ops);
  if (there == device_spec()) return {g, build(g, std::move(request))};
  const device on(there, where);
  return {g, build(g, std::move(request))};
}

}}  // namespace pinion::v0
