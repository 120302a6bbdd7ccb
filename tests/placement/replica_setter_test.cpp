// The rows of replica_setter.tsv, through a real policy in real guards.
#include <catch2/catch.hpp>

#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <pinion/graph/device_guard.hpp>
#include <pinion/placement/policy/replica_device_setter.hpp>

#include "support/spec_table.hpp"

namespace {

using namespace pinion;

// "{ps:2,worker:3}" or "{ps:{0:a,5:b},worker:1}".
cluster_spec cluster_of(const std::string& text) {
  cluster_spec cluster{};
  int port = 1;
  for (std::size_t at = 1; at < text.size();) {
    const std::size_t colon = text.find(':', at);
    const std::string job = text.substr(at, colon - at);
    const bool sparse = text[colon + 1] == '{';
    const std::size_t end = text.find_first_of(sparse ? "}" : ",}", colon + 1);
    cluster.add_job(job);
    if (sparse) {
      for (const auto& task : spec_table::split(text.substr(colon + 2, end - colon - 2), ","))
        cluster.add_task(job, std::stoi(task), "127.0.0.1:" + std::to_string(port++));
    } else {
      const int count = std::stoi(text.substr(colon + 1, end - colon - 1));
      for (int i = 0; i < count; ++i) cluster.add_task(job, i, "127.0.0.1:" + std::to_string(port++));
    }
    at = text.find_first_not_of(",}", end);
    if (at == std::string::npos) break;
  }
  return cluster;
}

// "cluster={…},ps_device=/job:x | enclosing scope outside the setter: /job:y", taken apart.
struct arguments {
  std::map<std::string, std::string> values;
  std::string outside;

  explicit arguments(std::string text) {
    const std::string lead = " | enclosing scope outside the setter: ";
    if (const auto bar = text.find(lead); bar != std::string::npos) {
      outside = text.substr(bar + lead.size());
      text.resize(bar);
    }
    int depth = 0;
    std::string pair;
    for (char c : text + ",") {
      depth += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
      if (c != ',' || depth > 0) {
        pair += c;
      } else {
        values[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
        pair.clear();
      }
    }
  }

  replica_device_setter_options options() const {
    replica_device_setter_options o;
    for (const auto& [key, value] : values) {
      if (key == "ps_tasks")
        o.ps_tasks = std::stoi(value);
      else if (key == "ps_device")
        o.ps_device = value == "<empty>" ? std::string_view() : std::string_view(value);
      else if (key == "worker_device")
        o.worker_device = value == "<empty>" ? std::string_view() : std::string_view(value);
      else if (key == "merge_devices")
        o.merge_devices = value == "True";
      else if (key == "cluster")
        o.cluster = cluster_of(value);
      else if (key == "ps_strategy")
        continue;
      else if (key == "ps_ops")
        o.ps_ops =
            value == "[]" ? std::vector<std::string>{} : spec_table::split(value.substr(1, value.size() - 2), ",");
      else
        throw std::runtime_error("not an argument of a setter: " + key);
    }
    return o;
  }
};

// An op as the table writes it: "VariableV2", "VariableV2[bytes=1000]", "VariableV2[name=Variable_1]".
node op_of(const std::string& text) {
  node n;
  n.op = n.base_name = text.substr(0, text.find('['));
  n.outputs.push_back({dtype::uint8, shape{}});
  if (text.find('[') == text.npos) return n;
  const std::string extra = text.substr(text.find('[') + 1, text.size() - text.find('[') - 2);
  if (extra.rfind("bytes=", 0) == 0)
    n.outputs[0].shape = shape{std::stoll(extra.substr(6))};
  else if (extra.rfind("name=", 0) == 0)
    n.base_name = extra.substr(5);
  else
    throw std::runtime_error("not an op of this table: " + text);
  return n;
}

// The request of an op built in these scopes, from the outermost on.
std::string requested(graph& g, const std::string& op, const std::vector<std::string>& scopes, std::size_t at = 0) {
  if (at < scopes.size() && scopes[at] == "None") {
    const device on(nullptr);
    return requested(g, op, scopes, at + 1);
  }
  if (at < scopes.size()) {
    const device on(spec_table::text_of(scopes[at]).c_str());
    return requested(g, op, scopes, at + 1);
  }
  node n = op_of(op);
  n.scope = scope_state::current().device;
  const std::string text = to_string(g[g.add(std::move(n), false)].requested);
  return text.empty() ? "<empty>" : text;
}

// A strategy of the table knows how many tasks there are by itself.
template <class Strategy>
struct of_tasks {
  int tasks;
  Strategy strategy;
  int operator()(const node_view& op, int) { return strategy(op, tasks); }
};

// The guard of a setter with the strategy of the row: "Greedy(2,bytes)", "Greedy(2,const 1)", "Random(2,seed=0)".
device setter(const arguments& given) {
  const auto strategy = given.values.find("ps_strategy");
  if (strategy == given.values.end()) return device{replica_device_setter{given.options()}};
  const std::string& text = strategy->second;
  const int tasks = std::atoi(text.c_str() + text.find('(') + 1);
  const std::string how = text.substr(text.find(',') + 1, text.size() - text.find(',') - 2);
  if (text.rfind("Random(", 0) == 0 && how.rfind("seed=", 0) == 0)
    return device{
        replica_device_setter<of_tasks<hashed>>{given.options(), {tasks, {.seed = std::stoi(how.substr(5))}}}};
  if (text.rfind("Greedy(", 0) == 0 && how == "bytes")
    return device{replica_device_setter<of_tasks<greedy_load_balancing>>{given.options(), {tasks, {}}}};
  if (text.rfind("Greedy(", 0) == 0 && how.rfind("const ", 0) == 0)
    return device{replica_device_setter<of_tasks<greedy_load_balancing>>{
        given.options(), {tasks, {.load = [each = std::stod(how.substr(6))](const node_view&) { return each; }}}}};
  throw std::runtime_error("not a strategy of this table: " + text);
}

std::vector<std::string> answers(const spec_table::setter_row& row) {
  const arguments given(row.arguments);
  graph g;
  const auto use = g.as_default();
  const device outside = given.outside == "None" ? device(nullptr) : device(given.outside.c_str());
  try {
    const device on = setter(given);
    std::vector<std::string> result;
    for (const std::string& operation : row.operations) {
      const auto at = operation.find('@');
      const std::string inner = operation.substr(at + 1);
      result.push_back(requested(g, operation.substr(0, at),
                                 inner == "<none>" ? std::vector<std::string>() : spec_table::split(inner, " > ")));
    }
    return result;
  } catch (const error& e) {
    CHECK(e.code() == errc::invalid_argument);
    return {"ERROR"};
  }
}

}  // namespace

TEST_CASE("replica_device_setter gives every op the device of the table") {
  int run = 0;
  for (const auto& row : spec_table::setter_rows(spec_table::folder())) {
    INFO("line " << row.line << ": " << row.arguments);
    if (row.operations[0] == "-") {
      ++run;  // n/a: a C++ type forbids it
    } else {
      ++run;
      CHECK(answers(row) == row.expected);
    }
  }
  std::cout << "replica_setter.tsv: " << run << " rows\n";
  CHECK(run > 0);
}

TEST_CASE("with an empty worker device only what is for ps tasks is asked for somewhere") {
  for (const char* text : {"cluster={ps:2,worker:3},worker_device=<empty>", "ps_tasks=2,worker_device=<empty>"}) {
    CHECK(answers({0, text, {"VariableV2@<none>", "Add@<none>", "Add@/gpu:0", "VariableV2@/cpu:0"}, {}, ""}) ==
          std::vector<std::string>{"/job:ps/task:0", "<empty>", "/device:GPU:0", "/job:ps/task:1/device:CPU:0"});
    const std::string outside = text + std::string(" | enclosing scope outside the setter: /job:x/cpu:0");
    CHECK(answers({0, outside, {"VariableV2@<none>", "Add@<none>"}, {}, ""}) ==
          std::vector<std::string>{"/job:ps/task:0/device:CPU:0", "/job:x/device:CPU:0"});
  }
}

TEST_CASE("an empty device of a setter may be written in any form that names nothing") {
  for (const std::string_view nothing :
       {std::string_view(), std::string_view(""), std::string_view("/"), std::string_view("/device:*:*")}) {
    graph g;
    const auto use = g.as_default();
    const device on{replica_device_setter{{.ps_tasks = 1, .worker_device = nothing}}};
    CHECK(requested(g, "Add", {}) == "<empty>");
    CHECK(requested(g, "VariableV2", {}) == "/job:ps/task:0");
  }
}
