// Light steps, which run in the thread that asks for them: those whose ops do little, whatever they yield.
#include <pinion/device/cpu.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/op/operations.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/optimize/optimize.hpp>
#include <pinion/runtime/resource_manager.hpp>
#include <pinion/runtime/step/executable.hpp>
#include <pinion/runtime/step/prune.hpp>
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include <support/ends.hpp>
#include <support/own_graph.hpp>

namespace {

using namespace pinion;

bool is_light(graph& g, const runtime::step_signature& s) {
  devices::cpu_device cpu{parse_device("/job:localhost/replica:0/task:0/cpu:0")};
  runtime::local_resource_manager resources;
  task_services services{&resources, nullptr};
  const placement_problem problem{.graph = g, .nodes = runtime::prune(g, s), .devices = {{cpu.spec(), cpu.name()}}};
  const placement placed = simple_placer{}(problem);
  const auto made = runtime::optimize(g, placed, s);
  const graph_view runs = made.in_place_of(g);
  auto parts = made.graph ? runtime::cut_by_device(runs, made.placement, made.signature, 0)
                          : runtime::cut_by_device(g, placed, s, 0);
  const runtime::executable step(std::move(parts.at(0)), runs, cpu, services, nullptr,
                                 [](const kernel_setup& k) { return make_kernel_for(k); });
  return step.light;
}
bool is_light(graph& g, const operation& target) {
  return is_light(g, {{}, {}, {id_of(target)}});
}
bool is_light(graph& g, const any_expr& fetch, std::vector<output> feeds = {}) {
  return is_light(g, {std::move(feeds), {end_of(fetch)}, {}});
}

// Numbers along one of the axes of a space.
expr<float> along(int axis, std::int64_t n, int rank = 3) {
  shape s;
  for (int i = 0; i < rank; ++i) s.push_back(i == axis ? n : 1);
  return placeholder<float>(s);
}

TEST_CASE("steps of nothing, of small variables and of small feeds are light") {
  own_graph f;
  auto x = placeholder<float>({64}, "x");
  auto v = variable(zeros<float>({64}), {.name = "v"});
  auto n = variable(0, {.name = "n"});
  CHECK(is_light(f.g, no_op()));
  CHECK(is_light(f.g, v.read()));
  CHECK(is_light(f.g, operation(assign_add(n, 1))));
  CHECK(is_light(f.g, any_expr(assign(v, x)), {end_of(x)}));
  CHECK(is_light(f.g, x * 2.f + 1.f, {end_of(x)}));
}

TEST_CASE("a step that hands on what is there is light, whatever its size") {
  own_graph f;
  auto large = placeholder<float>({100'000}, "large"), any = placeholder<float>({unknown}, "any");
  auto v = variable(zeros<float>({100'000}), {.name = "v"});
  CHECK(is_light(f.g, v.read()));
  CHECK(is_light(f.g, reshape(identity(large), {100, 1000}), {end_of(large)}));
  CHECK(is_light(f.g, identity(any), {end_of(any)}));
  CHECK_FALSE(is_light(f.g, identity(large) + 1.f, {end_of(large)}));
  CHECK_FALSE(is_light(f.g, v.read() + 1.f));
  CHECK_FALSE(is_light(f.g, any_expr(assign(v, large)), {end_of(large)}));
}

TEST_CASE("a step of texts is not light, since they have any length") {
  own_graph f;
  auto word = placeholder<std::string>({}, "word");
  CHECK_FALSE(is_light(f.g, identity(word), {end_of(word)}));
}

TEST_CASE("a step of values of which the sizes are not known, or which are large, is not light") {
  own_graph f;
  auto any = placeholder<float>({unknown}, "any"), large = placeholder<float>({100'000}, "large");
  CHECK_FALSE(is_light(f.g, reduce_sum(any), {end_of(any)}));
  CHECK_FALSE(is_light(f.g, reduce_sum(large), {end_of(large)}));
  CHECK_FALSE(is_light(f.g, gather(large, constant<int>({1})), {end_of(large)}));
}

TEST_CASE("a step that yields a number of very many, which are in no memory, is not light") {
  own_graph f;
  auto a = along(0, 64), b = along(1, 64), c = along(2, 64);
  const std::vector<output> fed{end_of(a), end_of(b), end_of(c)};
  CHECK(is_light(f.g, reduce_sum(a), fed));
  CHECK_FALSE(is_light(f.g, reduce_sum(a * b * c), fed));
}

TEST_CASE("a step with wide windows is not light, however few they are") {
  own_graph f;
  auto image = placeholder<float>({1, 31, 31, 1}, "image");
  CHECK(is_light(f.g, max_pool(image), {end_of(image)}));
  CHECK_FALSE(is_light(f.g, max_pool(image, {.window = {16, 16}, .strides = {1, 1}}), {end_of(image)}));
}

// ---- the operations that a node takes

double operations(const any_expr& e) {
  return operations_of(e.owner(), e.owner()[id_of(e)]);
}

TEST_CASE("a pooling takes an operation for each element of each window that lies in the image") {
  own_graph f;
  auto image = placeholder<float>({1, 20, 30, 2}, "image");
  CHECK(operations(avg_pool(image, {.window = {4, 5}, .strides = {1, 1}})) == 17 * 26 * 2 * 4 * 5);
  CHECK(operations(avg_pool(image, {.window = {1 << 20, 1 << 20}, .strides = {1, 1}, .padding = padding::same})) ==
        20 * 30 * 2 * 20 * 30);
}

TEST_CASE("a derivative of a product takes an operation for each subset of its weights") {
  own_graph f;
  auto x = placeholder<double>({8}, "x");
  expr<double> slope = reduce_prod(x);
  double last = 0;
  for (int order = 1; order <= 4; ++order) {
    slope = reduce_sum(std::get<0>(gradients(slope, x)));
    double most = 0;
    for (node_id i = 0; i < f.g.size(); ++i)
      if (f.g[i].op == "ProdGrad") most = std::max(most, operations_of(f.g, f.g[i]));
    CHECK(most > 2 * last);
    last = most;
  }
}

TEST_CASE("a gradient that is summed over what was broadcast takes its program for each element before the sum") {
  own_graph f;
  auto a = along(0, 100, 2), b = along(1, 100, 2);
  static_cast<void>(gradients(reduce_sum(exp(a * b)), a, b));
  double most = 0;
  for (node_id i = 0; i < f.g.size(); ++i)
    if (f.g[i].op == "MapGrad") most = std::max(most, operations_of(f.g, f.g[i]));
  CHECK(most >= 100 * 100);
}

TEST_CASE("a node of unknown extents takes any number of operations") {
  own_graph f;
  auto x = placeholder<float>({unknown}, "x");
  CHECK(std::isinf(operations(exp(x))));
}

}  // namespace
