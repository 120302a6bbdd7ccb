// Parts of steps from a master: what a worker admits can be compiled, and says of itself what it needs.
#include <distributed/wire.hpp>

#include <pinion/opkit/transfer_key.hpp>
#include <pinion/runtime/compiled_step.hpp>
#include <pinion/runtime/session_bodies.hpp>
#include <pinion/runtime/task.hpp>

#include <fuzz/graph_changes.hpp>
#include <fuzz/letters.hpp>
#include <fuzz/target.hpp>

namespace fuzz { namespace {

using distributed::subgraph;
using runtime::part_item;

constexpr std::string_view here_name = "/job:worker/replica:0/task:0", other_name = "/job:ps/replica:0/task:0";

// The work of a worker up to the first run.
void compile(const subgraph& s, graph_view g) {
  static runtime::task task({.name = parse_device(here_name), .cpu_devices = 2});
  for (const auto& part : s.parts)
    if (part.device >= static_cast<int>(task.devices.size())) return;
  const auto kernels = std::make_shared<runtime::session_kernels>();
  const auto bodies = std::make_shared<runtime::session_bodies>(task, kernels, false);
  const runtime::compiled_step step(s.parts, g, task, *kernels, bodies);
}

void read(std::string_view input) {
  auto s = opened<subgraph>(letter_of(input));
  const auto g = distributed::rebuild(s);
  const graph_view view = graph_view::of_settled(*g);
  const auto needs = distributed::ends_of(s.parts);
  for (const auto& part : s.parts)
    law(distributed::fed_outputs(view, part).size() <= needs.feeds, "a part is fed more than it says");
  distributed::expect_transfers(view, s.parts, here_name, [](std::string_view task) { return task == other_name; });
  compile(s, view);
}

void change_item(part_item& it, const part_item& other, std::size_t items, dice& random) {
  const auto small = [&] { return static_cast<int>(random(items + 3)) - 2; };
  switch (random(8)) {
    case 0: it.kind = static_cast<part_item::kind_t>(random(5)); return;
    case 1: it.node = small(); return;
    case 2: it.inputs.emplace_back(small(), small() % 3); return;
    case 3: it.after.push_back(small()); return;
    case 4: it.outputs = small(); return;
    case 5: it.index = small(); return;
    case 6: it.key = other.key; return;
    case 7: it = other; return;
  }
}

// Changes nodes, items, or the part that a node or an item is in.
std::string change(std::string input, dice& random) {
  try {
    auto s = opened<subgraph>(letter_of(input));
    if (random(2) == 0) {
      std::vector<std::optional<node>> nodes(s.nodes.begin(), s.nodes.end());
      change_graph(nodes, random);
      for (std::size_t i = 0; i < nodes.size(); ++i) s.nodes[i] = std::move(*nodes[i]);
    } else if (!s.parts.empty() && random(4) > 0) {
      auto& items = s.parts[random(s.parts.size())].items;
      if (!items.empty()) change_item(items[random(items.size())], items[random(items.size())], items.size(), random);
    } else if (!s.stub.empty()) {
      const std::size_t at = random(s.stub.size());
      s.stub[at] = !s.stub[at];
    }
    return input_of(rpc::encode(s));
  } catch (const error&) {
    return input;
  }
}

std::vector<std::string> seeds() {
  wire::model m;
  std::vector<std::string> all;
  for (auto& part : wire::partitions(m)) {
    part.device = 0;
    auto s = distributed::cut(m.g, {part});
    const bool is_here = std::any_of(part.items.begin(), part.items.end(), [](const part_item& it) {
      return it.kind == part_item::receive && it.key.to_task() == here_name;
    });
    if (is_here) all.push_back(input_of(rpc::encode(s)));
  }
  return all;
}

const enrolled here({.name = "parts",
                     .read = read,
                     .seeds = seeds,
                     .most_memory = [](std::string_view input) { return 512 * input.size() + (std::size_t{16} << 20); },
                     .change = change,
                     .rounds = 2000});

}}  // namespace fuzz
