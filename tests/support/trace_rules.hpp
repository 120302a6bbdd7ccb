// What the readers of Chrome traces ask for, as a checker. Source: the trace event format of Perfetto's importer.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace pinion_tests {

// The first rule that a trace breaks, or "".
inline std::string broken_rule(const nlohmann::json& trace) {
  using row = std::pair<int, int>;
  struct slice {
    double start, end;
  };
  std::map<row, std::vector<slice>> rows;
  std::map<int, int> pid_of_tid;
  std::set<int> named_processes, named_rows;
  std::map<int, double> begun;                            // arrows
  std::map<std::pair<int, std::string>, double> counted;  // counters, with the time of their last value
  const auto inside = [&](const nlohmann::json& e) {
    for (const slice& s : rows[{e["pid"], e["tid"]}])
      if (s.start < e["ts"].get<double>() && e["ts"].get<double>() < s.end) return true;
    return false;
  };
  for (const auto& e : trace.at("traceEvents")) {
    const std::string phase = e.at("ph"), text = e.dump();
    if (phase == "M") {
      if (e.at("name") == "process_name") named_processes.insert(e.at("pid").get<int>());
      if (e.at("name") == "thread_name") named_rows.insert(e.at("tid").get<int>());
      continue;
    }
    if (phase == "C") {
      if (named_processes.count(e.at("pid")) == 0) return "no name: " + text;
      double& last = counted.try_emplace({e["pid"], e.at("name")}, 0).first->second;
      if (e.at("ts") < last) return "runs backwards: " + text;
      last = e["ts"];
      for (const auto& [name, count] : e.at("args").items())
        if (!count.is_number_integer() || count < 0) return "no count: " + text;
      continue;
    }
    if (named_processes.count(e.at("pid")) == 0 || named_rows.count(e.at("tid")) == 0) return "no name: " + text;
    if (pid_of_tid.try_emplace(e["tid"], e["pid"]).first->second != e["pid"]) return "a row of two processes: " + text;
    if (phase == "X") {
      const slice now{e.at("ts"), e.at("ts").get<double>() + e.at("dur").get<double>()};
      if (now.start < 0 || e["dur"] <= 0) return "no time: " + text;
      for (const slice& s : rows[{e["pid"], e["tid"]}])
        if (now.start < s.end - 1e-6 && s.start < now.end - 1e-6) return "overlaps: " + text;
      rows[{e["pid"], e["tid"]}].push_back(now);
    } else if (phase == "s") {
      if (!inside(e)) return "begins outside of a slice: " + text;
      if (!begun.emplace(e.at("id"), e.at("ts")).second) return "begins twice: " + text;
    } else if (phase == "f") {
      if (!inside(e) || e.at("bp") != "e") return "ends outside of a slice: " + text;
      if (begun.count(e.at("id")) == 0 || begun[e["id"]] > e["ts"]) return "ends before it begins: " + text;
    } else {
      return "unknown phase: " + text;
    }
  }
  return "";
}

// The slices of a category: "op", "copy", "rpc", "sync".
inline std::vector<nlohmann::json> slices_of(const nlohmann::json& trace, const std::string& category) {
  std::vector<nlohmann::json> found;
  for (const auto& e : trace.at("traceEvents"))
    if (e.at("ph") == "X" && e.at("cat") == category) found.push_back(e);
  return found;
}
inline int count_phase(const nlohmann::json& trace, const std::string& phase) {
  int n = 0;
  for (const auto& e : trace.at("traceEvents")) n += e.at("ph") == phase;
  return n;
}

}  // namespace pinion_tests
