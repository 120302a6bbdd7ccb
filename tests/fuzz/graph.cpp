// Graphs from a client: what is admitted is placed, improved and cut like a graph of this process, and every part of it
// is admitted by the task that it is shipped to.
#include <distributed/wire.hpp>

#include <pinion/runtime/optimize/optimize.hpp>
#include <pinion/train/summary/graph_message.hpp>

#include <fuzz/graph_changes.hpp>
#include <fuzz/letters.hpp>
#include <fuzz/target.hpp>

namespace fuzz { namespace {

using distributed::graph_delta;

std::string text_of(graph_view g) {
  return input_of(rpc::encode(distributed::delta_since(g)));
}

void ship_again(graph_view g) {
  const std::string text = text_of(g);
  graph replica;
  distributed::apply(replica, opened<graph_delta>(letter_of(text)));
  law(text_of(replica) == text, "a graph changes as it is shipped again");
}

std::vector<device_info> devices() {
  std::vector<device_info> all;
  for (const char* name : {"/job:worker/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0"})
    all.push_back({parse_device(name), name, 0, ""});
  return all;
}

// A step that fetches every value and runs every node.
runtime::step_signature whole(graph_view g) {
  runtime::step_signature s;
  for (node_id id = 0; id < g.size(); ++id) {
    if (!g.contains(id)) continue;
    s.targets.push_back(id);
    for (int i = 0; i < static_cast<int>(g[id].outputs.size()); ++i)
      if (const auto& type = g.type_of({id, i}); !type.resource && !type.reference) s.fetches.push_back({id, i});
  }
  return s;
}

void ship_parts(graph_view g, const placement& placed, const runtime::step_signature& s) {
  for (auto& part : runtime::cut_by_device(g, placed, s, 0)) {
    auto message = distributed::cut(g, {part});
    const std::string text = input_of(rpc::encode(message));
    auto arrived = opened<distributed::subgraph>(letter_of(text));
    try {
      distributed::rebuild(arrived);
    } catch (const error& e) {
      throw broken_law(std::string("a worker refuses a part of a graph that a master has admitted: ") + e.what());
    }
  }
}

// An input is what a client says of its graph, one time after the other.
void read(std::string_view input) {
  auto deltas = opened<std::vector<graph_delta>>(letter_of(input));
  graph g;
  for (graph_delta& more : deltas) distributed::apply(g, std::move(more));
  ship_again(g);
  train::graph_message(g);
  const auto s = whole(g);
  const placement placed = simple_placer{}({.graph = g,
                                            .nodes = runtime::prune(g, s),
                                            .devices = devices(),
                                            .home = parse_device("/job:worker/replica:0/task:0")});
  const auto improved = runtime::optimize(g, placed, s);
  to_string(runtime::explain(g, placed, improved, devices(), false));
  ship_parts(g, placed, s);
  ship_parts(improved.in_place_of(g), improved.placement, improved.signature);
}

std::string change(std::string input, dice& random) {
  try {
    auto deltas = opened<std::vector<graph_delta>>(letter_of(input));
    if (deltas.empty()) return input;
    graph_delta& one = deltas[random(deltas.size())];
    change_graph(one.nodes, random);
    if (random(8) == 0) one.gone.push_back(static_cast<node_id>(random(one.nodes.size() + 2)));
    if (random(8) == 0) one.from = static_cast<node_id>(random(8)) - 1;
    return input_of(rpc::encode(deltas));
  } catch (const error&) {
    return input;
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  {
    wire::model m;
    std::vector<graph_delta> deltas{distributed::delta_since(m.g)};
    all.push_back(input_of(rpc::encode(deltas)));
    deltas.push_back({m.g.size(), {}, {m.g.id_of("last")}});
    all.push_back(input_of(rpc::encode(deltas)));
  }
  {
    own_graph small;
    const auto a = constant(tensor<float>::of({{1, 2}, {3, 4}}), "a");
    const auto b = cond(
        reduce_sum(a) > 1.f, [&] { return a * 2.f; }, [&] { return a + 1.f; });
    std::vector<graph_delta> deltas{distributed::delta_since(small.g)};
    distributed::shipped before;
    before.add(deltas[0]);
    reduce_max(matmul(b, a, {.transpose_b = true}), {.axes = {0}});
    deltas.push_back(distributed::delta_since(small.g, before));
    all.push_back(input_of(rpc::encode(deltas)));
  }
  return all;
}

const enrolled here({.name = "graph",
                     .read = read,
                     .seeds = seeds,
                     .most_memory = [](std::string_view input) { return 512 * input.size() + (std::size_t{64} << 20); },
                     .change = change,
                     .rounds = 1500});

}}  // namespace fuzz
