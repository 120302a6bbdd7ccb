// Every row of device_merge.tsv, through real guards on a real graph.
#include <catch2/catch.hpp>

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/graph/device_guard.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>

#include "support/ends.hpp"
#include "support/spec_table.hpp"

namespace pn = pinion;

namespace {

// What a policy of the table answers: a cell like those of a scope, or something made of the op.
std::string answer(const std::string& rule, const pn::node_view& op) {
  if (rule == "op.device") return to_string(op.device());
  if (rule.substr(0, 11) == "op.device||") return op.device().empty() ? rule.substr(11) : to_string(op.device());
  if (rule.substr(0, 3) == "if ") {
    const auto then = rule.find(" then "), otherwise = rule.find(" else ");
    return op.op() == rule.substr(3, then - 3) ? rule.substr(then + 6, otherwise - then - 6)
                                               : rule.substr(otherwise + 6);
  }
  return spec_table::text_of(rule);
}

struct writes_string {
  std::string rule;
  std::string operator()(const pn::node_view& op) { return answer(rule, op); }
};
struct writes_spec {
  std::string rule;
  pn::device_spec operator()(const pn::node_view&) { return spec_table::spec_of(rule); }
};
struct lays_over {
  std::string outer;
  pn::device_spec operator()(const pn::node_view& op) const {
    return merge(outer == "None" ? pn::device_spec{} : pn::parse_device(spec_table::text_of(outer)), op.device());
  }
};
struct answers_nothing {
  std::nullptr_t operator()(const pn::node_view&) { return nullptr; }
};
static_assert(pn::placement_policy<writes_string> && pn::placement_policy<writes_spec> &&
              pn::placement_policy<lays_over>);
static_assert(!pn::placement_policy<answers_nothing>, "fn=>None cannot be written");

pn::node_id make_node(pn::graph& g, const std::string& op) {
  if (op == "NoOp") return id_of(pn::no_op());
  pn::node n;
  n.op = n.base_name = op;
  n.scope = pn::scope_state::current().device;
  return g.add(std::move(n), false);
}

// The request of an op built inside these scopes, from the outermost on.
pn::device_spec requested(pn::graph& g, const std::vector<std::string>& scopes, std::size_t at, const std::string& op) {
  if (at == scopes.size()) return g[make_node(g, op)].requested;
  const std::string& s = scopes[at];
  const auto inside = [&](auto&& argument) {
    const pn::device on(std::forward<decltype(argument)>(argument));
    return requested(g, scopes, at + 1, op);
  };
  if (s == "None") return inside(nullptr);
  if (s.substr(0, 5) == "spec:") return inside(spec_table::spec_of(s));
  if (s.substr(0, 6) == "merge:") return inside(lays_over{s.substr(6)});
  if (s.substr(0, 9) == "fn=>spec:") return inside(writes_spec{s.substr(4)});
  if (s.substr(0, 4) != "fn=>") return inside(spec_table::text_of(s).c_str());
  writes_string policy{s.substr(4)};
  return inside(policy);  // an lvalue, which the guard refers to
}

// "n/a" rows cannot be written: the spec is refused where it is made, the policy by the concept above.
std::string outcome(const spec_table::merge_row& row) {
  if (row.scopes.size() && row.scopes.back() == "fn=>None") return "n/a";
  pn::graph g;
  const auto use = g.as_default();
  const std::string text = spec_table::outcome([&] { return requested(g, row.scopes, 0, row.op_type); });
  return row.pinion == "n/a" && text == "ERROR" ? "n/a" : text;
}

}  // namespace

TEST_CASE("every row of device_merge.tsv holds for guards and policies on a graph") {
  int rows = 0;
  for (const auto& row : spec_table::merge_rows(spec_table::folder())) {
    INFO("line " << row.line);
    CHECK(outcome(row) == row.pinion);
    ++rows;
  }
  std::cout << "device_merge.tsv: " << rows << " rows\n";
}

TEST_CASE("the project's own copy of device_merge.tsv is in the folder that is run") {
  CHECK(spec_table::merge_rows(spec_table::folder()).size() >= spec_table::merge_rows(spec_table::own_folder()).size());
}
