// Bodies of <pinion/op/control/functions.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <pinion/op/control/bodies.hpp>
#include <pinion/op/control/functions.hpp>
#include <pinion/op/control/op.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL void add_arguments(body_trace& t, const std::vector<output_type>& types, source_location where) {
  const called_from line(where);
  for (const output_type& type : types) op::add_argument(t.made(), type, "argument");
}

PINION_DECL traced_body finished(body_trace& t) {
  t.made().graph.settle();
  return {t.share(), t.captures()};
}

namespace detail {

inline std::string site_name(graph& g, std::string_view name) {
  return g.unique_name(scope_state::current().name_prefix + std::string(name));
}

// Gives both bodies the arguments that either of them uses from outside, in the same order and behind those that they
// have. Returns the values of these arguments in the graph around the bodies.
inline std::vector<output> share_arguments(traced_body& a, traced_body& b) {
  std::vector<output> outside;
  const auto add = [&](const traced_body& t) {
    for (const auto& d : t.captures)
      if (const output_type& type = t.made->graph.type_of(d.inside);
          !type.reference && !type.resource && std::find(outside.begin(), outside.end(), d.outside) == outside.end())
        outside.push_back(d.outside);
  };
  add(a);
  add(b);
  for (traced_body* t : {&a, &b})
    for (const output& o : outside) {
      const auto same = [&](const body_trace::capture& d) { return d.outside == o; };
      const auto mine = std::find_if(t->captures.begin(), t->captures.end(), same);
      if (mine != t->captures.end()) {
        t->made->arguments.push_back(mine->inside);
        continue;
      }
      const traced_body& other = t == &a ? b : a;
      const auto theirs = std::find_if(other.captures.begin(), other.captures.end(), same);
      op::add_argument(*t->made, other.made->graph.type_of(theirs->inside), "unused");
    }
  return outside;
}

inline void take_outside(control_site& site, traced_body& a, traced_body& b) {
  for (const output& o : share_arguments(a, b)) site.inputs.push_back(o);
}

}  // namespace detail

PINION_DECL control_site begin_conditional(const any_expr& predicate, std::string_view name) {
  graph& g = predicate.owner();
  return {.g = g,
          .inputs = {predicate.endpoint(g)},
          .variables = {},
          .name = detail::site_name(g, name.empty() ? "cond" : name)};
}

PINION_DECL node_id end_conditional(control_site site, traced_body then, traced_body otherwise, source_location where) {
  const called_from line(where);
  detail::take_outside(site, then, otherwise);
  return op::make_conditional(site.g,
                              {.inputs = std::move(site.inputs), .where = where, .exact_name = std::move(site.name)},
                              then.made, otherwise.made);
}

PINION_DECL control_site begin_loop(const while_options& o, const std::vector<any_expr>& starts) {
  if (!o.shape_invariants.empty() && o.shape_invariants.size() != starts.size())
    throw error(errc::invalid_argument, "while_loop has " + std::to_string(starts.size()) + " variables, but " +
                                            std::to_string(o.shape_invariants.size()) + " shape invariants");
  graph* of = nullptr;
  for (const any_expr& start : starts) join_graph(of, start);
  control_site site{
      .g = *of, .inputs = {}, .variables = {}, .name = detail::site_name(*of, o.name.empty() ? "while" : o.name)};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    site.inputs.push_back(starts[i].endpoint(*of));
    site.variables.push_back(
        {starts[i].dtype(), o.shape_invariants.empty() ? starts[i].shape() : o.shape_invariants[i]});
  }
  return site;
}

PINION_DECL node_id end_loop(control_site site, const while_options& o, traced_body condition, traced_body loop_body,
                             source_location where) {
  const called_from line(where);
  attributes attrs{{"variables", static_cast<std::int64_t>(site.variables.size())}, {"scanned", std::int64_t{0}}};
  if (o.maximum_iterations >= 0) attrs.set("maximum_iterations", o.maximum_iterations);
  detail::take_outside(site, condition, loop_body);
  return op::make_loop(
      site.g,
      {.inputs = std::move(site.inputs), .attrs = std::move(attrs), .where = where, .exact_name = std::move(site.name)},
      condition.made, loop_body.made);
}

}}}  // namespace pinion::v0::dsl
