// A graph, devices that need not exist, and where the simple placer puts what some fetches need.
#pragma once

#include <pinion/graph.hpp>
#include <pinion/graph/traverse.hpp>
#include <pinion/placement/simple_placer.hpp>

#include <initializer_list>
#include <string>
#include <vector>

#include <support/ends.hpp>
#include <support/own_graph.hpp>

struct world : own_graph {
  std::vector<pinion::device_info> devices;
  std::unordered_map<pinion::node_id, std::string> kept;
  pinion::device_spec home = pinion::parse_device("/job:localhost/replica:0/task:0");
  bool soft = false;

  // Devices by short names, "cpu:0" of the home task, or by full ones.
  explicit world(std::initializer_list<const char*> names) {
    for (const std::string name : names) {
      const auto spec = pinion::parse_device(name[0] == '/' ? name : "/job:localhost/replica:0/task:0/" + name);
      devices.push_back({spec, to_string(spec), 0, ""});
    }
  }
  pinion::plan plan(std::initializer_list<pinion::operation> fetches) {
    std::vector<pinion::node_id> targets;
    for (const auto& f : fetches) targets.push_back(id_of(f));
    const pinion::placement_problem problem{g, ancestors(g, {}, targets), devices, kept, home, soft};
    return pinion::explain(problem, pinion::simple_placer{}(problem));
  }
  // The same later: what was placed keeps its device.
  pinion::plan run(std::initializer_list<pinion::operation> fetches) {
    auto p = plan(fetches);
    for (const auto& n : p.nodes()) kept.emplace(n.id, n.device);
    return p;
  }
};

// "a CPU:0, b GPU:1": short names of the home task, in the plan's order.
inline std::string where(const pinion::plan& p) {
  std::string text;
  for (const auto& n : p.nodes()) {
    const std::string home = "/job:localhost/replica:0/task:0/device:";
    text += (text.empty() ? "" : ", ") + n.name + " " +
            (n.device.rfind(home, 0) == 0 ? n.device.substr(home.size()) : n.device);
  }
  return text;
}
