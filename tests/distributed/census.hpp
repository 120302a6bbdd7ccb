// All that a task, and the process in which it runs, have that others may cause.
#pragma once

#include <malloc.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>
#include <pinion/distributed.hpp>

#include <distributed/real_cluster.hpp>

namespace real {

// The mappings of this process that it shares with others.
inline int shared_mappings() {
  std::ifstream lines("/proc/self/maps");
  int n = 0;
  for (std::string line; std::getline(lines, line);) n += line.find("memfd:pinion") != line.npos;
  return n;
}

// The things that one task, and its process, have and that clients may cause, by what they are.
using census = std::map<std::string, std::uint64_t>;

inline census census_of(server& task) {
  const task_report r = task.report();
  return {{"sessions", r.sessions.size()},
          {"runs", r.runs.size()},
          {"steps under way", r.steps.running},
          {"parts under way", r.parts.running},
          {"clients", static_cast<std::uint64_t>(r.backlog.clients)},
          {"bytes not taken", r.backlog.bytes_waiting},
          {"bytes not worked off", r.backlog.bytes_received},
          {"values offered", r.backlog.values_offered},
          {"early values", r.backlog.values_early},
          {"graphs kept", r.backlog.graphs_kept},
          {"rows of clients", r.clients.size()},
          {"tasks known", r.peers.size()},
          {"unsettled parts", r.backlog.parts_unsettled},
          {"sought tasks", r.backlog.tasks_sought},
          {"clients of metrics", static_cast<std::uint64_t>(r.backlog.metrics_clients)},
          {"lines held back", r.backlog.lines_untold},
          {"closures", static_cast<std::uint64_t>(r.pool.queued)},
          {"connections that share memory", r.shared.connections},
          {"slabs", r.shared.slabs},
          {"bytes of slabs", r.shared.slab_bytes},
          {"bytes lent", r.shared.bytes_lent},
          {"queues", r.queues.size()},
          {"variables", r.variable_count},
          {"mappings", static_cast<std::uint64_t>(shared_mappings())},
          {"descriptors", r.descriptors.open},
          {"threads", static_cast<std::uint64_t>(entries("/proc/self/task"))}};
}

// The bytes of the heap that are in use. Nothing is known of them under sanitizers: 0.
inline std::uint64_t heap_in_use() {
  const auto all = ::mallinfo2();
  return all.uordblks + all.hblkhd;
}

// Lists what there is more of than before; empty where that is nothing.
inline std::string more(const census& now, const census& before) {
  std::string text;
  for (const auto& [what, n] : now)
    if (n > before.at(what)) text += fmt::format("{} {}, before {}\n", n, what, before.at(what));
  return text;
}

// Waits until a task has no more than before. Returns what there is more of, if that does not come.
inline std::string left_behind(server& task, const census& before) {
  std::string left;
  soon([&] { return (left = more(census_of(task), before)).empty(); });
  return left;
}

}  // namespace real
