// Bodies of <pinion/op/queue/functions.hpp>.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/op/queue/functions.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL state::queue_components components_of(std::initializer_list<dtype> types,
                                                  const std::vector<shape>& shapes) {
  state::queue_components all{types, shapes};
  if (shapes.empty()) all.shapes.assign(types.size(), shape::any());
  if (all.shapes.size() != types.size())
    throw error(errc::invalid_argument, "a queue of " + std::to_string(types.size()) + " components was given " +
                                            std::to_string(shapes.size()) + " shapes");
  return all;
}

PINION_DECL std::vector<shape> with_priority(const std::vector<shape>& shapes, std::size_t components) {
  std::vector<shape> all = shapes.empty() ? std::vector<shape>(components, shape::any()) : shapes;
  all.insert(all.begin(), shape{});
  return all;
}

}}}  // namespace pinion::v0::dsl

namespace pinion { inline namespace v0 {

PINION_DECL const std::string& any_queue::name() const {
  return (*graph_)[queue_].name;
}
PINION_DECL const std::string& any_queue::op() const {
  return (*graph_)[queue_].op;
}
PINION_DECL const device_spec& any_queue::requested_device() const {
  return (*graph_)[queue_].requested;
}

PINION_DECL node_id any_queue::make_node_of(std::string_view op, const state::queue_components& components,
                                            attributes attrs, const std::string& name, const std::string& shared_name,
                                            source_location where) {
  state::set_components(attrs, components);
  attrs.set("shared_name", shared_name);
  return build(default_graph(), {.op = op, .base_name = name, .attrs = std::move(attrs), .where = where});
}

PINION_DECL std::string any_queue::component_name(std::string_view what) {
  return std::string(what) + "/component";
}

PINION_DECL node_id any_queue::node_of(std::string_view op, std::string_view what, std::initializer_list<output> inputs,
                                       attributes attrs, source_location where) const {
  if (empty()) throw error(errc::invalid_argument, "a queue that was never assigned is used");
  const dsl::endpoint here = dsl::captured_in(*graph_, {queue_, 0});
  std::vector<output> all{here.what};
  all.insert(all.end(), inputs.begin(), inputs.end());
  const std::string base = name().substr(name().rfind('/') + 1) + "_" + std::string(what);
  return build(*here.of,
               {.op = op, .base_name = base, .inputs = std::move(all), .attrs = std::move(attrs), .where = where});
}

PINION_DECL expr<std::int32_t> any_queue::size(source_location where) const {
  return {drawn(), {node_of(op::queue_size::name, "size", {}, {}, where), 0}};
}

PINION_DECL expr<bool> any_queue::is_closed(source_location where) const {
  return {drawn(), {node_of(op::queue_is_closed::name, "is_closed", {}, {}, where), 0}};
}

PINION_DECL operation any_queue::close(const close_options& o, source_location where) const {
  const attributes attrs{{"cancel_pending_enqueues", o.cancel_pending_enqueues}};
  return {drawn(), node_of(op::queue_close::name, "close", {}, attrs, where)};
}

}}  // namespace pinion::v0
