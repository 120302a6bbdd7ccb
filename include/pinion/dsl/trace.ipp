// Bodies of <pinion/dsl/trace.hpp>.
#pragma once

#include <pinion/dsl/trace.hpp>
#include <pinion/graph/op_names.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/state/key.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL graph* graph_in_use(graph& owner) {
  body_trace* const t = body_trace::current();
  return t && t->lies_in(owner) ? &t->made().graph : &owner;
}

PINION_DECL endpoint captured_in(graph& owner, output o) {
  body_trace* const t = body_trace::current();
  return t && t->lies_in(owner) ? endpoint{&t->made().graph, t->draw(owner, o)} : endpoint{&owner, o};
}

namespace detail {
inline body_trace*& innermost_trace() {
  thread_local body_trace* innermost = nullptr;
  return innermost;
}
}  // namespace detail

PINION_DECL body_trace::body_trace(graph& around, const std::string& prefix)
    : made_(std::make_shared<body>()), around_(&around), innermost_before_(detail::innermost_trace()) {
  if (around_ != scope_state::current().graph) {
    auto guards = scope_state::current().device;
    use_ = std::make_unique<default_scope>(around);
    scope_state::current().device = std::move(guards);
  }
  previous_ = current();
  saved_ = scope_state::current();
  around_->settle();
  scope_state& now = scope_state::current();
  now.graph = &made_->graph;
  now.control = nullptr;
  now.colocation.clear();
  now.name_prefix = prefix + "/";
  detail::innermost_trace() = this;
}

PINION_DECL body_trace::~body_trace() {
  made_->graph.settle_before_closing();  // guards that are open now are asked now
  scope_state::current() = std::move(saved_);
  detail::innermost_trace() = innermost_before_;
}

PINION_DECL void body_trace::make_innermost(body_trace* t) {
  detail::innermost_trace() = t;
}

PINION_DECL body_trace* body_trace::current() {
  body_trace* const t = detail::innermost_trace();
  return t && scope_state::current().graph == &t->made_->graph ? t : nullptr;
}

PINION_DECL bool body_trace::lies_in(const graph& owner) const {
  return &owner == around_ || (previous_ && previous_->lies_in(owner));
}

PINION_DECL output body_trace::draw(graph& owner, output o) {
  if (&owner != around_) o = previous_->draw(owner, o);
  for (const capture& d : captures_)
    if (d.outside == o) return d.inside;
  const auto use = made_->graph.as_default();
  const node from = around_->peek(o.node);
  const output_type& type = from.outputs[static_cast<std::size_t>(o.index)];
  if (type.reference || type.resource) {
    captures_.push_back({o, name_again(from)});
  } else {
    const std::string base = from.base_name.substr(from.base_name.rfind('/') + 1);
    const output inside{build(made_->graph, {.op = op_names::placeholder,
                                             .base_name = base,
                                             .attrs = {{"dtype", type.dtype}, {"shape", type.shape}},
                                             .where = from.where}),
                        0};
    captures_.push_back({o, inside});
  }
  return captures_.back().inside;
}

// Makes a node in the body for a variable or queue of the graph around it, with the same state and requested device.
PINION_DECL output body_trace::name_again(const node& state) {
  if (!state.inputs.empty())
    throw error(errc::unimplemented, "'" + state.name + "' (" + state.op + ") cannot be used in a body")
        .at_node(state.name, state.op, to_string(state.where));
  const auto [container, name] = state::key_of(state);
  attributes attrs = state.attrs;
  attrs.set("container", container);
  attrs.set("shared_name", name);
  scope_state::current().device = std::make_shared<const device_scope>(
      device_scope{.own = state.requested, .where = state.where, .asked_by = "node " + state.name});
  return {build(made_->graph, {.op = state.op,
                               .attrs = std::move(attrs),
                               .where = state.where,
                               .exact_name = made_->graph.unique_name(state.name)}),
          0};
}

}}}  // namespace pinion::v0::dsl
