// Bodies of <pinion/distributed/wire/step.hpp>.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/wire/step.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void save(rpc::writer& a, const plan& p) {
  const plan_figures& f = p.figures();
  a(p.devices(), p.nodes(), f.soft, f.totals, f.transfers, f.edges, f.makespan, f.notes);
}

PINION_DECL void load(rpc::reader& a, plan& p) {
  std::vector<device_info> devices;
  std::vector<placed_node> nodes;
  plan_figures f;
  a(devices, nodes, f.soft, f.totals, f.transfers, f.edges, f.makespan, f.notes);
  const auto device = [&](int d) { return d >= 0 && static_cast<std::size_t>(d) < devices.size(); };
  for (const auto& t : f.transfers)
    if (!device(t.from) || !device(t.to)) throw error(errc::data_loss, "a plan's transfer leads to no device of it");
  for (const auto& e : f.edges)
    if (e.from >= nodes.size() || e.to >= nodes.size())
      throw error(errc::data_loss, "a plan's edge leads to no node of it");
  p = plan(std::move(devices), std::move(nodes), std::move(f));
}

namespace detail {

PINION_DECL void check_times(rpc::reader&, std::int64_t start, std::int64_t duration) {
  constexpr std::int64_t most = std::int64_t{1} << 61;
  if (start < 0 || start > most || duration < 0 || duration > most)
    rpc::reader::refuse("a message holds an event of " + std::to_string(duration) + " ns at " + std::to_string(start));
}

}  // namespace detail

}}  // namespace pinion::v0
