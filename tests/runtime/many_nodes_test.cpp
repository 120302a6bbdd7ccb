// Steps of very many nodes, in the forms that a pass with two loops over them would take minutes for.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/optimize/optimize.hpp>
#include <pinion/runtime/step/prune.hpp>

#include "support/ends.hpp"
#include "support/own_graph.hpp"

namespace {

using namespace pinion;
namespace rt = pinion::runtime;

constexpr int many = 50'000;

// A step of so many nodes, made ready up to its optimized graph. Returns the number of nodes that stay.
node_id made_ready(graph& g, const rt::step_signature& s) {
  const char* cpu = "/job:localhost/replica:0/task:0/device:CPU:0";
  const placement placed =
      simple_placer{}({.graph = g, .nodes = rt::prune(g, s), .devices = {{.spec = parse_device(cpu), .name = cpu}}});
  return rt::optimize(g, placed, s).graph->size();
}

rt::step_signature targets(const std::vector<node_id>& all, std::vector<output> feeds = {}) {
  return {std::move(feeds), {}, all};
}

TEST_CASE("nodes that differ in the number alone by which they multiply are told apart at once") {
  own_graph f;
  auto x = placeholder<float>({}, "x");
  std::vector<node_id> all;
  for (int i = 0; i < many; ++i) all.push_back(id_of(x * static_cast<float>(i + 2)));
  CHECK(made_ready(f.g, targets(all, {end_of(x)})) == many + 1);
}

TEST_CASE("nodes that differ in a text, a flag or their last elements alone are told apart at once") {
  own_graph f;
  std::vector<node_id> all;
  for (int i = 0; i < many / 10; ++i) {
    tensor<float> long_one({1000});
    long_one.data()[999] = static_cast<float>(i + 1);
    all.push_back(id_of(constant(long_one)));
    all.push_back(id_of(constant(std::string(300, 'a') + std::to_string(i))));
  }
  CHECK(made_ready(f.g, targets(all)) == static_cast<node_id>(all.size()));
}

TEST_CASE("nodes that are the same, however many, become one at once") {
  own_graph f;
  auto x = placeholder<float>({}, "x");
  std::vector<output> fetches;
  for (int i = 0; i < many; ++i) fetches.push_back(end_of(x * 2.f));
  CHECK(made_ready(f.g, {{end_of(x)}, fetches, {}}) == 2);
}

TEST_CASE("a step with as many feeds as nodes is made ready at once") {
  own_graph f;
  std::vector<output> feeds;
  std::vector<node_id> all;
  for (int i = 0; i < many / 2; ++i) {
    auto x = placeholder<float>({});
    feeds.push_back(end_of(x));
    all.push_back(id_of(identity(x)));
  }
  CHECK(made_ready(f.g, targets(all, feeds)) == many);
}

TEST_CASE("a chain of constants is folded at once, and each of its nodes tells which does its work") {
  own_graph f;
  expr<float> y = constant(1.f);
  for (int i = 0; i < many; ++i) y = y * 1.5f;
  const rt::step_signature s{{}, {end_of(y)}, {}};
  CHECK(made_ready(f.g, s) == 1);
}

TEST_CASE("a map whose shape many take and whose elements many reduce is made ready at once") {
  own_graph f;
  auto x = placeholder<float>({4}, "x");
  auto y = exp(x);
  std::vector<node_id> all;
  for (int i = 0; i < many / 4; ++i) all.push_back(id_of(reduce_sum(y)));
  for (int i = 0; i < many / 4; ++i) all.push_back(id_of(reduce_max(y, {.keep_dims = i % 2 == 0})));
  CHECK(made_ready(f.g, targets(all, {end_of(x)})) <= 5);
}

}  // namespace
