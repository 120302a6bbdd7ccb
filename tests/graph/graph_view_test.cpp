// Views of a graph: they show settled nodes, those that the graph had when the view was made, and change nothing.
#include <pinion/graph/graph_view.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/graph.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"
#include "support/own_graph.hpp"

using namespace pinion;

namespace {

template <class Graph>
concept gives_nodes = requires(Graph& g) {
  g[node_id{}];
};
template <class Graph>
concept finds_nodes = requires(Graph& g) {
  g.find("a");
}
|| requires(Graph& g) {
  g.id_of("a");
};
template <class Graph>
concept settles = requires(Graph& g) {
  g.settle();
};
template <class Graph>
concept leads_to_its_handles = requires(Graph& g) {
  g.lives();
};

static_assert(gives_nodes<graph> && finds_nodes<graph> && settles<graph> && leads_to_its_handles<graph>);
static_assert(!gives_nodes<const graph> && !finds_nodes<const graph>, "whoever asks for a name settles the node");
static_assert(!settles<const graph>, "a const graph does not change");
static_assert(!leads_to_its_handles<const graph>, "a handle changes its graph");

static_assert(gives_nodes<const graph_view> && finds_nodes<const graph_view> && !settles<graph_view>);
static_assert(std::is_convertible_v<graph&, graph_view>, "a function that reads is given a graph");
static_assert(!std::is_constructible_v<graph_view, const graph&>, "a const graph cannot be settled: see of_settled");
static_assert(!std::is_constructible_v<graph_view, graph>, "the graph must outlive its view");
static_assert(std::is_trivially_copyable_v<graph_view> && sizeof(graph_view) <= 2 * sizeof(void*));

// A policy that counts the nodes that it is asked about.
struct counts {
  int asked = 0;
  device_spec operator()(const node_view& op) { return ++asked, op.device(); }
};

device_spec no_room(const node_view& op) {
  throw error(errc::resource_exhausted, "no room for " + std::string(op.name()));
}

// A graph with a node, beside which others are made.
struct with_x : own_graph {
  expr<float> x = placeholder<float>({4}, "x");
};

}  // namespace

TEST_CASE("a view shows the nodes that the graph had when it was made") {
  with_x f;
  const graph_view before(f.g);
  const auto later = no_op("later");
  CHECK(before.size() == 1);
  CHECK(before.find("x")->op() == "Placeholder");
  CHECK(before.id_of("x") == id_of(f.x));
  CHECK(before.type_of(end_of(f.x)).shape == shape{4});
  CHECK_FALSE(before.contains(id_of(later)));
  CHECK_FALSE(before.find("later"));
  CHECK(before.id_of("later") == no_node);
  CHECK(graph_view(f.g)[id_of(later)].name == "later");
}

TEST_CASE("making a view settles the nodes so far, and reading it settles no later one") {
  with_x f;
  counts policy;
  const device on(policy);
  const graph_view before(f.g);
  const auto sum = f.x + f.x;
  CHECK(before[id_of(f.x)].name == "x");
  CHECK_FALSE(before.find("add"));
  CHECK(policy.asked == 0);
  const graph_view after(f.g);
  CHECK(policy.asked == 1);
  CHECK(after[id_of(sum)].name == "add");
}

TEST_CASE("a view throws the first fault of the policies that it has asked, once") {
  with_x f;
  const device on(no_room);
  const auto sum = f.x + f.x;
  const auto product = f.x * f.x;
  const error first = caught([&] { graph_view{f.g}; });
  CHECK(first.sentence() == "no room for add");
  CHECK(first.node() == "add");
  CHECK(graph_view(f.g)[id_of(product)].name == "mul");
}

TEST_CASE("a finished graph is read though it is const, and one with an unsettled node is not") {
  with_x f;
  const graph& read = f.g;
  CHECK(graph_view::of_settled(read).size() == 1);
  const auto sum = f.x + f.x;
  CHECK(failure([&] { graph_view::of_settled(read); }) ==
        "internal: a graph is read as a finished one, and has nodes that are not settled");
  f.g.settle();
  CHECK(graph_view::of_settled(read)[id_of(sum)].name == "add");
}

TEST_CASE("a node that a later one absorbs is gone from a view, too") {
  with_x f;
  auto sum = f.x + f.x;
  const node_id absorbed = id_of(sum);
  const graph_view before(f.g);
  CHECK(before.contains(absorbed));
  const auto product = std::move(sum) * f.x;
  CHECK_FALSE(before.contains(absorbed));
  CHECK(product.name() == "mul");
}

TEST_CASE("several threads may make views of a graph that nobody builds, and each node is settled once") {
  with_x f;
  counts policy;
  const device on(policy);
  std::vector<expr<float>> sums;
  for (int i = 0; i < 20; ++i) sums.push_back(f.x + f.x);
  std::vector<std::string> last(4);
  std::vector<std::thread> threads;
  for (std::string& name : last)
    threads.emplace_back([&f, &name] {
      const graph_view g(f.g);
      name = g[g.size() - 1].name;
    });
  for (std::thread& t : threads) t.join();
  CHECK(last == std::vector<std::string>(4, "add_19"));
  CHECK(policy.asked == 20);
}

TEST_CASE("a graph with a fault is not finalized") {
  with_x f;
  const device on(no_room);
  const auto sum = f.x + f.x;
  CHECK(caught([&] { f.g.finalize(); }).node() == "add");
  CHECK_FALSE(f.g.finalized());
  f.g.finalize();
  CHECK(failure([] { no_op("late"); }).find("failed_precondition: the graph is finalized") == 0);
}
