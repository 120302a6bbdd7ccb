// Kernels of elementwise programs that are compiled with a unit: what they compute, over operands of any shapes, and
// when they serve.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <pinion/device/cuda/kernel_store.hpp>
#include <pinion/op/elementwise/cuda_ahead_map.hpp>
#include <pinion/op/elementwise/cuda_separate_gradients.hpp>

#include "cuda/every_program.hpp"
#include "cuda/gradient_run.hpp"
#include "cuda/map_check.hpp"
#include "cuda/map_run.hpp"
#include "cuda_device/gpus.hpp"
#include "cuda_kernels/ahead_programs.hpp"
#include "cuda_kernels/map_gpu.hpp"

namespace {

using namespace cuda_tests;

scalar::program sum(dtype type = dtype::float32) {
  return scalar::executable(*laws::map_program("Add", type));
}

void launch(const gpu& g, const scalar::program& p, const map_run& run, const cuda::wrong_places& guard = {}) {
  g.run(p, run, [&](kernel_context& c, auto& addresses) {
    op::ahead_map map(p);
    REQUIRE(map.launch(c, run.walk(), addresses, guard));
  });
}

}  // namespace

TEST_CASE_METHOD(machine, "kernels compiled ahead of time compute each op, gradient and rule as the laws admit") {
  compile_ahead_programs();
  const gpu g;
  for (const auto& [about, p] : programs_of_catalogue()) {
    INFO(about);
    if (!op::find_ahead(p)) {
      // to integers, or a gradient that no graph has
      CHECK_THAT(about, Catch::Contains("Cast of ") && !Catch::Contains("double to float"));
      continue;
    }
    const map_run run = row_run(p);
    launch(g, p, run);
    CHECK(misfit(p, run) == "");
  }
}

TEST_CASE_METHOD(machine, "a kernel compiled ahead of time finds the elements that stand at a place of the space") {
  const gpu g;
  std::size_t found = 0;
  for (const named_program& p : programs_in_forms()) {
    if (!op::find_ahead(p.program)) continue;
    ++found;
    for (const map_case& of : map_cases(p.program.inputs)) {
      map_run run(p.program, of.inputs, of.is_aligned);
      for (std::size_t k = 0; k < p.program.inputs; ++k) run.count_up(k);
      launch(g, p.program, run);
      INFO(p.about << ", " << of.about);
      CHECK(run.first_wrong() == "");
    }
  }
  CHECK(found == programs_in_forms().size());
}

TEST_CASE_METHOD(machine, "a kernel compiled ahead of time lays its result over an input") {
  const gpu g;
  map_run run(sum(), {{50, 8}, {8}});
  run.count_up(0), run.count_up(1);
  run.share(0, 2);
  launch(g, sum(), run);
  std::vector<double> wanted;
  for (int e = 0; e < 400; ++e) wanted.push_back(e % 7 + e % 8 % 7);
  CHECK(run.numbers(2) == wanted);
}

TEST_CASE_METHOD(machine, "a guarded run behind a wrong value writes nothing") {
  const gpu g;
  any_tensor place(dtype::int64, {1, 2});
  place.data<std::int64_t>()[0] = 3;
  place.data<std::int64_t>()[1] = 0;
  const any_tensor there = g.device().from_host(place);
  map_run run(sum(), {{10}, {10}});
  run.count_up(0), run.count_up(1);
  run.fill(2, std::vector<double>(10, -1));
  launch(g, sum(), run, {static_cast<const cuda::first_wrong*>(there.raw()), 1});
  CHECK(run.numbers(2) == std::vector<double>(10, -1));
}

TEST_CASE_METHOD(machine, "2^31 elements and more are no run of several dimensions that a kernel has compiled ahead") {
  const auto takes = [](const shape& space, const shape& second) {
    return op::ahead_map(sum()).takes(broadcast_walk(space, {space, second, space}));
  };
  CHECK(takes({1 << 16, (1 << 15) - 1}, {(1 << 15) - 1}));
  CHECK(!takes({1 << 16, 1 << 15}, {1 << 15}));
  CHECK(takes({1 << 16, 1 << 15}, {1 << 16, 1 << 15}));
}

namespace {

any_tensor counted(const shape& s) {
  any_tensor x(dtype::float32, s);
  for (std::int64_t i = 0; i < x.count(); ++i) x.data<float>()[i] = static_cast<float>(i % 5);
  return x;
}

// The gradient of the sum of 2 x y by y, where x has the shape of the space, as a program computes it on a GPU.
std::vector<float> gradient_by_second(const gpu& g, const scalar::program& p, const shape& space, const shape& second) {
  const std::vector<shape> inputs{space, second, space};
  any_tensor two(dtype::float32, space);
  std::fill_n(two.data<float>(), two.count(), 2.f);
  const any_tensor x = g.device().from_host(counted(space)), y = g.device().from_host(counted(second)),
                   dz = g.device().from_host(two), dy = g.device().from_host(counted(second));
  op::cuda_addresses operands;
  for (const any_tensor& t : {x, y, dz, dy}) operands.add(t);
  op::detail::separate_gradients gradients(p, inputs, {false, true});
  kernel_context c;
  c.device = &g.device();
  if (!gradients.run_at_once(c, operands)) gradients.run(c, operands);
  const any_tensor found = g.here(dy);
  return {found.data<float>(), found.data<float>() + found.count()};
}

}  // namespace

TEST_CASE_METHOD(machine, "gradients that are not wanted are not stored, and those over fewer axes are added up") {
  const gpu g;
  const scalar::program compiled =
      scalar::executable(scalar::derive_for_node(*laws::map_program("Mul", dtype::float32)));
  scalar::program interpreted = compiled;
  interpreted.code.push_back(interpreted.code.back());  // a dead value, with which no unit has the program
  REQUIRE(op::find_ahead(compiled));
  REQUIRE(!op::find_ahead(interpreted));
  const shape space{3, 5, 4};
  for (const shape& second : {space, shape{4}, shape{5, 1}, shape{3, 1, 4}, shape{3, 1, 1}, shape{}}) {
    std::vector<float> wanted(static_cast<std::size_t>(second.count()));
    for (std::int64_t e = 0; e < space.count(); ++e)
      wanted[laws::broadcast_index(space, second, e)] += 2 * static_cast<float>(e % 5);
    INFO(second.count());
    CHECK(gradient_by_second(g, compiled, space, second) == wanted);
    CHECK(gradient_by_second(g, interpreted, space, second) == wanted);
  }
}

namespace {

// The kernels that were compiled for the first GPU while a program ran.
int compiled_while_running() {
  const auto card = pn::cuda::list_cards().cards.at(0);
  return pn::cuda::kernel_store::of(card.major, card.minor).made().compiled;
}

struct model_on_gpu : world {
  using world::world;
  std::vector<pn::tensor<float>> run(std::int64_t rows_of_w) {
    const pn::device on{"/gpu:0"};
    const ahead_model m = make_ahead_model();
    const auto [dx, dw] = pn::gradients(m.y, m.x, m.w);
    const auto [from_z] = pn::gradients(m.z, m.w);
    pn::tensor<float> x{{3, 8}}, w{{rows_of_w, 8}};
    for (std::size_t i = 0; i < 24; ++i) x.span()[i] = static_cast<float>(i) / 24;
    for (float& v : w.span()) v = .5f;
    pn::session sess;
    const auto [y, by_x, by_w, z_by_w] = sess.run({{m.x, x}, {m.w, w}}, m.y, dx, dw, from_z);
    return {pn::tensor<float>(y), pn::tensor<float>(by_x), pn::tensor<float>(by_w), pn::tensor<float>(z_by_w)};
  }
};

}  // namespace

TEST_CASE_METHOD(model_on_gpu, "expressions of a unit and their gradients are compiled by nothing else") {
  const int before = compiled_while_running();
  const auto found = run(3);
  CHECK(compiled_while_running() == before);
  const float x = 5 / 24.f, t = std::tanh(x / 2 + .5f);
  CHECK(found[0].span()[5] == Approx(t * x));
  CHECK(found[2].span()[5] == Approx((1 - t * t) * x * x));
  const float of_z = std::tanh(x / 2);
  CHECK(found[3].span()[5] == Approx((1 - of_z * of_z) * x));
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(model_on_gpu, "where units have no code for the GPU, programs are compiled while they run",
                 "[stand-in]") {
  const auto wanted = run(3);
  fake_cuda::refuse(fake_cuda::code::of_units);
  const int before = compiled_while_running();
  CHECK(run(3) == wanted);
  CHECK(compiled_while_running() > before);
}

TEST_CASE_METHOD(world, "a plan says which kernels are compiled ahead of time") {
  const pn::device on{"/gpu:0"};
  const ahead_model m = make_ahead_model();
  const pn::plan plan = pn::session().plan(m.y);
  CHECK(plan.find(m.y.name())->kernel == "CUDA ahead of time");
}
