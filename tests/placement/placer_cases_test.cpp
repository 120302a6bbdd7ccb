// The cases of placer_cases.md: the simple placer over a catalogue of ops and devices that the file declares.
#include <catch2/catch.hpp>

#include <iostream>
#include <regex>

#include <pinion/graph/graph.hpp>
#include <pinion/placement/plan/explain.hpp>
#include <pinion/placement/simple_placer.hpp>

#include "support/placer_case.hpp"

namespace {

using namespace pinion;
using spec_table::placer_case;

// "CPU:0" is short for a device of this process.
std::string full(const std::string& device) {
  return device[0] == '/' ? device : "/job:localhost/replica:0/task:0/device:" + device;
}

class declared_ops final : public op_knowledge {
 public:
  explicit declared_ops(const std::map<std::string, spec_table::op_row>& rows) : rows_(rows) {
    for (const char* alike : {"Size", "Rank"})
      if (rows_.count("Shape")) rows_.emplace(alike, rows_.at("Shape"));
    for (const auto& [name, row] : rows_) {
      op_facts& f = facts_[name];
      for (const auto& [type, priority] : row.kernels) f.kernels.push_back({type, priority});
      f.metadata = row.metadata;
      f.stateful = true;  // what the file assigns stays
      f.handles = 0;
      for (std::size_t i = 0; i < row.inputs.size(); ++i)
        if (row.inputs[i] == "ref" || row.inputs[i] == "res") f.handles |= 1u << i;
    }
  }
  const op_facts& facts(const node& n) const override { return facts_.at(n.op); }
  const spec_table::op_row& row(const std::string& op) const { return rows_.at(op); }

 private:
  std::map<std::string, spec_table::op_row> rows_;
  std::map<std::string, op_facts> facts_;
};

// The problem of a case; throws as pinion does where a device string is bad.
struct stage {
  graph g;
  placement_problem problem;

  stage(const placer_case& c, const declared_ops& ops)
      : problem{.graph = g, .nodes = {}, .devices = {}, .soft = c.soft, .ops = ops} {
    for (const auto& name : c.devices) {
      const auto spec = parse_device(full(name));
      problem.devices.push_back({spec, to_string(spec), 0, ""});
    }
    if (!c.master.empty()) problem.home = parse_device(c.master);
    if (!c.local.empty()) problem.local = parse_device(full(c.local)).with_type("");
    if (!c.first.empty()) problem.first = parse_device(full(c.first));
    for (const auto& row : c.graph) add(row, ops.row(row.op));
    problem.graph = g;  // with these nodes
  }

  void add(const spec_table::node_row& row, const spec_table::op_row& op) {
    node n;
    n.name = n.base_name = row.name;
    n.op = row.op;
    n.requested = parse_device(row.request.empty() || row.request[0] == '/' ? row.request : full(row.request));
    n.colocation = row.groups;
    for (const auto& in : row.inputs) {
      const auto colon = in.find(':');
      n.inputs.push_back({known(in.substr(0, colon)), colon == in.npos ? 0 : std::stoi(in.substr(colon + 1))});
    }
    for (const auto& before : row.controls) n.control_inputs.push_back(known(before));
    for (const auto& out : op.outputs)
      n.outputs.push_back({out == "i" ? dtype::int32 : dtype::float32, shape{}, out == "ref", out == "res"});
    const node_id id = g.add(std::move(n), false);
    problem.nodes.push_back(id);
    if (!row.assigned.empty()) problem.kept[id] = row.assigned[0] == '/' ? row.assigned : full(row.assigned);
  }
  node_id known(const std::string& name) {
    const node_id id = g.id_of(name);
    if (id == no_node) throw std::runtime_error("no node '" + name + "' before its use");
    return id;
  }
};

std::string upper(std::string_view text) {
  std::string result;
  for (const char c : text) result += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

// The names of nodes and devices that an expected error holds.
std::vector<std::string> names_in(const std::string& expected) {
  std::vector<std::string> names;
  const auto each = [&](const char* form, const std::string& text) {
    const std::regex r(form);
    for (std::sregex_iterator at(text.begin(), text.end(), r), end; at != end; ++at) names.push_back((*at)[1]);
  };
  if (expected.find(" naming ") != expected.npos) {
    each("`([^`]+)`", expected.substr(expected.find(" naming ")));
    return names;
  }
  each(R"(\{\{(?:colocation_node|node) ([^}]+)\}\})", expected);
  for (auto& n : names) n = "'" + n + "'";
  each("Op '([^']+)'", expected);
  each(R"((/[a-z]+:[^ '`,;\]]*))", expected);
  for (auto& n : names)
    if (n[0] == '/') try {
        n.erase(n.find_last_not_of(".):") + 1);
        n = to_string(parse_device(n));
      } catch (const error&) {  // it stands as it is
      }
  each("\\W((?:GPU|CPU):[0-9]+) vs", expected);
  each("vs \\W*((?:GPU|CPU):[0-9]+)", expected);
  return names;
}

void check(const placer_case& c, const declared_ops& ops) {
  const bool refused = c.expected.find("ERROR") != std::string::npos;
  try {
    stage s(c, ops);
    const placement placed = simple_placer{}(s.problem);
    const plan p = explain(s.problem, placed);
    CHECK_FALSE(refused);
    const std::regex pair("`([^`]+)` -> `([^`]+)`");
    int pairs = 0;
    for (std::sregex_iterator at(c.expected.begin(), c.expected.end(), pair), end; at != end; ++at, ++pairs) {
      const std::string name = (*at)[1], device = (*at)[2];
      INFO(name << ": " << p.find(name)->reason);
      CHECK(p.device_of(name) == full(device));
    }
    CHECK((refused || pairs > 0));
    if (c.tells_dropped) CHECK(placed.dropped().size() > 0);
  } catch (const error& e) {
    INFO(e.what());
    CHECK(refused);
    CHECK(c.expected.find(upper(to_string(e.code()))) + c.expected.find(to_string(e.code())) != 2 * std::string::npos);
    for (const auto& name : names_in(c.expected)) {
      INFO("it should name " << name);
      CHECK(std::string(e.what()).find(name) != std::string::npos);
    }
  }
}

}  // namespace

TEST_CASE("every case of placer_cases.md is placed, or refused, as it says") {
  const auto file = spec_table::placer_cases(spec_table::folder());
  const declared_ops ops(file.ops);
  for (const auto& c : file.cases) {
    INFO("line " << c.line << ": " << c.name);
    check(c, ops);
  }
  std::cout << "placer_cases.md: " << file.cases.size() << " rows\n";
  CHECK(!file.cases.empty());
}
