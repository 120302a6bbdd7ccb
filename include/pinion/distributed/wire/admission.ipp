// Bodies of <pinion/distributed/wire/admission.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/distributed/wire/admission.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace distributed { namespace detail {

PINION_DECL void expect(bool holds, const std::string& otherwise) {
  if (!holds) throw error(errc::invalid_argument, otherwise);
}

inline void check_name(const graph& g, const node& n) {
  constexpr std::size_t longest = 4096;
  expect(!n.name.empty(), "a node without a name");
  expect(n.name.size() <= longest, "a name of " + std::to_string(n.name.size()) + " characters");
  expect(g.peek(n.name) == no_node, "a second node of that name");
}

inline void check_edges(const graph& g, const node& n) {
  for (const output& in : n.inputs) {
    expect(g.contains(in.node), "it takes an input from node " + std::to_string(in.node) + ", which is not before it");
    const node& from = g.peek(in.node);
    expect(in.index >= 0 && in.index < static_cast<int>(from.outputs.size()),
           "it takes output " + std::to_string(in.index) + " of '" + from.name + "', which has " +
               std::to_string(from.outputs.size()));
  }
  for (const node_id id : n.control_inputs)
    expect(g.contains(id), "it runs after node " + std::to_string(id) + ", which is not before it");
}

// A reference may be an input only where a state is written, or read by Identity; a resource only where it is used. No
// state is written twice at once.
inline void check_references(const graph& g, const definition& def, const node& n) {
  const std::size_t written = static_cast<std::size_t>(states_of(def, n));
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    const output_type& type = g.type_of(n.inputs[i]);
    const bool state = type.reference || type.resource;
    if (n.op == op::identity::name && !type.resource) continue;
    expect(state == (i < written),
           "its input " + std::to_string(i) + (state ? " is a state, not a value" : " is a value, no state"));
    expect(!state ||
               std::count(n.inputs.begin(), n.inputs.begin() + static_cast<std::ptrdiff_t>(written), n.inputs[i]) == 1,
           "it writes one variable twice");
  }
}

inline void check_type(const output_type& type) {
  expect(dtypes::all.has(type.dtype), "it yields a tensor of " + std::string(to_string(type.dtype)));
  expect(countable(type.shape), "it yields a tensor of shape " + to_string(type.shape));
}

inline void check_outputs(const node& n, const std::vector<output_type>& declared) {
  const auto agree = [](const output_type& a, const output_type& b) {
    return a.dtype == b.dtype && a.reference == b.reference && a.resource == b.resource && fits(a.shape, b.shape);
  };
  for (const output_type& type : n.outputs) check_type(type);
  expect(std::equal(n.outputs.begin(), n.outputs.end(), declared.begin(), declared.end(), agree),
         "it declares other outputs than " + n.op + " has");
}

}}}}  // namespace pinion::v0::distributed::detail

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void admit(const graph& g, node& n, made_by who) {
  detail::naming(n, [&] {
    const definition& def = definition_of(n.op);
    detail::check_name(g, n);
    detail::check_edges(g, n);
    check_attributes(def, n);
    if (who == made_by::client) refuse_rewrite(def, n);
    check_input_count(def, n);
    detail::check_references(g, def, n);
    const std::vector<output_type> declared = std::exchange(n.outputs, {});
    shape_context shapes(g, n);
    def.infer(shapes);
    detail::check_outputs(n, declared);
  });
}

PINION_DECL void admit_stub(const graph& g, node& n) {
  detail::naming(n, [&] {
    detail::check_name(g, n);
    detail::expect(n.inputs.empty() && n.control_inputs.empty() && n.attrs.begin() == n.attrs.end(),
                   "a node that is computed elsewhere has inputs or attributes");
    for (const output_type& type : n.outputs) {
      detail::check_type(type);
      detail::expect(!type.reference && !type.resource, "a state that lives elsewhere");
    }
  });
}

}}}  // namespace pinion::v0::distributed
