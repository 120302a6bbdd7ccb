// Bodies of <pinion/train/summary/graph_message.hpp>.
#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <pinion/graph/attribute_value.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/train/summary/graph_message.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::string graph_message(graph_view g) {
  return graph_message(g, [](const node& n) { return to_string(n.requested); });
}

}}}  // namespace pinion::v0::train

#if PINION_HAS_PROTOZERO
#include <map>

#include <protozero/pbf_builder.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

enum class graph_field : protozero::pbf_tag_type { node = 1 };
enum class node_field : protozero::pbf_tag_type { name = 1, op = 2, input = 3, device = 4, attribute = 5 };
enum class attribute_field : protozero::pbf_tag_type { key = 1, value = 2 };
enum class graph_value : protozero::pbf_tag_type {
  list = 1,
  text = 2,
  integer = 3,
  number = 4,
  flag = 5,
  type = 6,
  shape = 7,
  tensor = 8
};
enum class graph_shape : protozero::pbf_tag_type { axis = 2, any_rank = 3 };
enum class graph_axis : protozero::pbf_tag_type { extent = 1 };
enum class graph_tensor : protozero::pbf_tag_type { type = 1, shape = 2, content = 4, strings = 8 };

inline constexpr std::size_t most_shown = 1024;  // bytes

inline int data_type_of(dtype type) {
  constexpr int numbers[] = {0, 1, 2, 3, 9, 4, 10, 7, 14, 19, 6, 5, 17, 22, 23};
  return numbers[static_cast<unsigned>(type)];
}

inline std::string shape_message(const shape& extent) {
  std::string bytes;
  protozero::pbf_builder<graph_shape> out(bytes);
  if (!extent.has_rank()) out.add_bool(graph_shape::any_rank, true);
  for (const std::int64_t n : extent.dims()) {
    protozero::pbf_builder<graph_axis> axis(out, graph_shape::axis);
    axis.add_int64(graph_axis::extent, n);
  }
  return bytes;
}

// Adds a shape. The message is made apart, since a builder leaves no empty message behind, and a scalar's shape is one.
inline void add_shape(protozero::pbf_builder<graph_value>& to, const shape& extent) {
  to.add_message(graph_value::shape, shape_message(extent));
}

inline std::string shown(std::string text) {
  return text.size() <= most_shown ? text : "(" + std::to_string(text.size()) + " bytes)";
}

inline bool is_small(const any_tensor& t) {
  if (t.empty() || !t.on_host()) return false;
  std::size_t bytes = t.bytes();
  for (std::int64_t i = 0; t.dtype() == dtype::string && i < t.count() && bytes <= most_shown; ++i)
    bytes += t.data<std::string>()[i].size();
  return bytes <= most_shown;
}

inline void add_tensor(protozero::pbf_builder<graph_value>& to, const any_tensor& t) {
  protozero::pbf_builder<graph_tensor> out(to, graph_value::tensor);
  out.add_enum(graph_tensor::type, data_type_of(t.dtype()));
  out.add_message(graph_tensor::shape, shape_message(t.shape()));
  if (!is_small(t)) return;
  if (t.dtype() != dtype::string)
    return out.add_bytes(graph_tensor::content, static_cast<const char*>(t.raw()), t.bytes());
  for (std::int64_t i = 0; i < t.count(); ++i) out.add_bytes(graph_tensor::strings, t.data<std::string>()[i]);
}

// The names of a program's operations, as in "mul, add".
inline std::string operations_of(const scalar::program& p) {
  std::string all;
  for (const auto& in : p.code)
    if (const auto f = scalar::facts(in.op); f.operands > 0 && in.op != scalar::opcode::partial)
      all += (all.empty() ? "" : ", ") + std::string(f.name);
  return all;
}

// Writes an attribute's value: one overload for each type that it may have.
struct value_writer {
  protozero::pbf_builder<graph_value>& to;

  void operator()(bool x) const { to.add_bool(graph_value::flag, x); }
  void operator()(std::int64_t x) const { to.add_int64(graph_value::integer, x); }
  void operator()(double x) const { to.add_float(graph_value::number, static_cast<float>(x)); }
  void operator()(const std::string& x) const { to.add_bytes(graph_value::text, shown(x)); }
  void operator()(dtype x) const { to.add_enum(graph_value::type, data_type_of(x)); }
  void operator()(const shape& x) const { add_shape(to, x); }
  void operator()(const integers& x) const {
    protozero::pbf_builder<graph_value> list(to, graph_value::list);
    if (!x.empty()) list.add_packed_int64(graph_value::integer, x.begin(), x.end());
  }
  void operator()(const any_tensor& x) const { add_tensor(to, x); }
  void operator()(const std::shared_ptr<const scalar::program>& x) const {
    (*this)(x ? operations_of(*x) : std::string());
  }
  void operator()(const std::shared_ptr<const body>& x) const {
    (*this)("a body of " + std::to_string(x ? x->graph.size() : 0) + " nodes");
  }
};

template <class Fill>
std::string graph_attribute(Fill&& fill) {
  std::string bytes;
  protozero::pbf_builder<graph_value> value(bytes);
  fill(value);
  return bytes;
}

inline std::string shapes_of(const std::vector<output_type>& outputs) {
  return graph_attribute([&](auto& value) {
    protozero::pbf_builder<graph_value> list(value, graph_value::list);
    for (const output_type& o : outputs) add_shape(list, o.shape);
  });
}

inline std::string colocation_of(const node& n) {
  return graph_attribute([&](auto& value) {
    protozero::pbf_builder<graph_value> list(value, graph_value::list);
    for (const std::string& name : n.colocation) list.add_bytes(graph_value::text, "loc:@" + name);
  });
}

// The attributes by name, so that the same graph gives the same bytes.
inline std::map<std::string, std::string> attributes_of(const node& n) {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : n.attrs)
    all[name] = graph_attribute([&value = value](auto& to) { std::visit(value_writer{to}, value.value().held); });
  if (!n.outputs.empty()) {
    all["_output_shapes"] = shapes_of(n.outputs);
    if (!n.attrs.has("dtype")) all["T"] = graph_attribute([&](auto& to) { value_writer{to}(n.outputs[0].dtype); });
  }
  if (!n.colocation.empty()) all["_class"] = colocation_of(n);
  return all;
}

inline void add_node(protozero::pbf_builder<graph_field>& to, graph_view g, const node& n, const std::string& device) {
  protozero::pbf_builder<node_field> out(to, graph_field::node);
  out.add_string(node_field::name, n.name);
  out.add_string(node_field::op, n.op);
  for (const output& in : n.inputs) out.add_string(node_field::input, output_name(g[in.node], in.index));
  for (const node_id id : n.control_inputs) out.add_string(node_field::input, "^" + g[id].name);
  if (!device.empty()) out.add_string(node_field::device, device);
  for (const auto& [name, value] : attributes_of(n)) {
    protozero::pbf_builder<attribute_field> entry(out, node_field::attribute);
    entry.add_string(attribute_field::key, name);
    entry.add_message(attribute_field::value, value);
  }
}

}  // namespace detail

PINION_DECL std::string graph_message(graph_view g, const std::function<std::string(const node&)>& device) {
  std::string bytes;
  protozero::pbf_builder<detail::graph_field> all(bytes);
  for (node_id id = 0; id < g.size(); ++id)
    if (g.contains(id)) detail::add_node(all, g, g[id], device(g[id]));
  return bytes;
}

}}}  // namespace pinion::v0::train

#else
#include <pinion/op/summary/message.hpp>

namespace pinion { inline namespace v0 { namespace train {
PINION_DECL std::string graph_message(graph_view, const std::function<std::string(const node&)>&) {
  return op::check_messages_can_be_made(), "";
}
}}}  // namespace pinion::v0::train
#endif

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

// The device that a node asks for. A colocated node asks for the device of its anchor.
inline const device_spec& request_of(graph_view g, const node& n) {
  for (const std::string& anchor : n.colocation)
    if (const node_id id = g.id_of(anchor); id != no_node && !g[id].requested.empty()) return g[id].requested;
  return n.requested;
}

inline bool names_a_job(graph_view g) {
  for (node_id id = 0; id < g.size(); ++id)
    if (g.contains(id) && !g[id].requested.job().empty()) return true;
  return false;
}

// A request with the fields that it leaves no choice of. Requires: `local` tells that the graph names no job.
inline device_spec completed(device_spec request, bool local) {
  if (request.empty()) return request;
  if (local) request = merge(device_spec{}.with_job("localhost").with_task(0), request);
  if (!request.job().empty() && request.task() >= 0) request = merge(device_spec{}.with_replica(0), request);
  return request.type().empty() || request.index() >= 0 ? request : request.with_index(0);
}

// The full names of devices, according to a plan.
class planned_devices {
 public:
  explicit planned_devices(const plan& p) : plan_(p) {
    for (const placed_node& n : p.nodes()) placed_.emplace(n.name, &n.device);
  }
  std::string of(const node& n) const {
    if (const std::string* const device = find(n.name)) return *device;
    for (const std::string& anchor : n.colocation)
      if (const std::string* const device = find(anchor)) return *device;
    return n.requested.empty() ? "" : completed(n.requested);
  }

 private:
  const std::string* find(const std::string& name) const {
    const auto at = placed_.find(name);
    return at == placed_.end() ? nullptr : at->second;
  }
  // The first device that meets a request; devices that the plan uses come before the others.
  std::string completed(const device_spec& request) const {
    const std::string* unused = nullptr;
    for (std::size_t d = 0; d < plan_.devices().size(); ++d) {
      const device_info& info = plan_.devices()[d];
      if (!is_specification(request, info.spec)) continue;
      if (plan_.totals()[d].nodes > 0) return info.name;
      if (!unused) unused = &info.name;
    }
    return unused ? *unused : to_string(request);
  }

  const plan& plan_;
  std::unordered_map<std::string_view, const std::string*> placed_;
};

}  // namespace detail

PINION_DECL std::string graph_message(graph_view g, const std::vector<device_info>& devices) {
  return graph_message(g, [&](const node& n) {
    const device_spec& request = detail::request_of(g, n);
    const auto meets = [&](const device_info& d) { return is_specification(request, d.spec); };
    const auto first = std::find_if(devices.begin(), devices.end(), meets);
    return request.empty() || first == devices.end() ? to_string(request) : first->name;
  });
}

PINION_DECL std::string graph_message_of_requests(graph_view g) {
  const bool local = !detail::names_a_job(g);
  return graph_message(g, [&](const node& n) { return to_string(detail::completed(detail::request_of(g, n), local)); });
}

PINION_DECL std::string graph_message(graph_view g, const plan& p) {
  const detail::planned_devices devices(p);
  return graph_message(g, [&devices](const node& n) { return devices.of(n); });
}

}}}  // namespace pinion::v0::train
