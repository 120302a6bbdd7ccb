// Steps of a client's graph, run with a client's feeds: whatever op, attribute, shape and value it is, a kernel
// computes or refuses.
#include <laws/machine.hpp>

#include <pinion/distributed/wire/graph.hpp>
#include <pinion/op/control/op.hpp>
#include <pinion/runtime/direct_session.hpp>

#include <fuzz/graph_changes.hpp>
#include <fuzz/letters.hpp>
#include <fuzz/target.hpp>

namespace fuzz { namespace {

// A graph, and the values of its placeholders in their order.
struct step {
  distributed::graph_delta graph;
  std::vector<any_tensor> feeds;
  template <class A>
  void serialize(A& a) {
    a(graph, feeds);
  }
};

// True for a node whose outputs are small as far as that is known, and that neither waits for others nor goes round.
bool is_modest(const node& n) {
  constexpr std::int64_t most = 1 << 14;
  if (n.op == op::loop::name) return false;
  return std::all_of(n.outputs.begin(), n.outputs.end(), [](const output_type& type) {
    return !type.resource && (!type.shape.known() || type.shape.count() <= most);
  });
}

runtime::step_signature signature_of(graph_view g, std::size_t feeds) {
  runtime::step_signature s;
  for (node_id id = 0; id < g.size(); ++id) {
    if (!g.contains(id)) continue;
    if (g[id].op == op::placeholder::name) {
      if (s.feeds.size() < feeds) s.feeds.push_back({id, 0});
      continue;
    }
    s.targets.push_back(id);
    for (int i = 0; i < static_cast<int>(g[id].outputs.size()); ++i)
      if (const auto& type = g.type_of({id, i}); !type.resource && !type.reference) s.fetches.push_back({id, i});
  }
  return s;
}

void run(graph& g, std::vector<any_tensor> feeds, bool optimize) {
  const auto s = signature_of(g, feeds.size());
  if (s.feeds.size() != feeds.size()) return;
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const output_type& type = graph_view(g).type_of(s.feeds[i]);
    if (feeds[i].empty() || feeds[i].dtype() != type.dtype || !fits(feeds[i].shape(), type.shape)) return;
  }
  runtime::direct_session session({.inter_op_threads = 1,
                                   .intra_op_threads = 1,
                                   .operation_timeout = std::chrono::milliseconds(200),
                                   .optimize = optimize},
                                  g);
  const auto ready = session.prepare(s);
  std::vector<any_tensor> results(s.fetches.size());
  session.run(*ready, feeds, results, nullptr);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const output_type& type = graph_view(g).type_of(s.fetches[i]);
    law(results[i].dtype() == type.dtype && fits(results[i].shape(), type.shape),
        "a node of " + graph_view(g)[s.fetches[i].node].op + " yields another value than its graph says");
  }
}

void read(std::string_view input) {
  auto given = opened<step>(letter_of(input));
  graph g;
  distributed::apply(g, std::move(given.graph), distributed::most_nodes, distributed::made_by::master);
  const graph_view all(g);
  for (node_id id = 0; id < all.size(); ++id)
    if (all.contains(id) && !is_modest(all[id])) return;
  for (const bool optimize : {true, false}) try {
      run(g, given.feeds, optimize);
    } catch (const error&) {  // of the step, which was taken well
    }
}

std::string change(std::string input, dice& random) {
  try {
    auto given = opened<step>(letter_of(input));
    if (random(4) > 0) change_graph(given.graph.nodes, random);
    if (random(4) == 0 && !given.feeds.empty()) {
      any_tensor& t = given.feeds[random(given.feeds.size())];
      if (dtypes::plain.has(t.dtype()) && t.bytes() > 0)
        t.byte_data()[random(t.bytes())] =
            static_cast<std::byte>(t.dtype() == dtype::boolean ? random(2) : random(256));
    }
    return input_of(rpc::encode(given));
  } catch (const error&) {
    return input;
  }
}

// A node of every op, as the laws know it.
std::vector<std::string> seeds() {
  std::vector<std::string> all;
  laws::for_each_case([&](std::string_view op, const laws::sample& s, dtype key) {
    const bool is_one_of_many = key != dtype::float32 && key != dtype::int32 && key != dtype::invalid;
    if (is_one_of_many && laws::makes_sense(op, dtype::float32)) return;
    const laws::call c = laws::call_of(op, s, key);
    step made;
    graph g;
    laws::build_call(g, c);
    made.graph = distributed::delta_since(g);
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
      if (!(i == 0 && !c.resource.empty()) && !(c.is_state.size() > i && c.is_state[i]))
        made.feeds.push_back(c.inputs[i]);
    all.push_back(input_of(rpc::encode(made)));
  });
  return all;
}

const enrolled here({.name = "steps",
                     .read = read,
                     .seeds = seeds,
                     .most_memory =
                         [](std::string_view) { return std::size_t{1} << 40; },  // a step takes what is asked for
                     .change = change,
                     .rounds = 2000});

}}  // namespace fuzz
