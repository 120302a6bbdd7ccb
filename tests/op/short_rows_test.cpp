// Broadcasts with short rows, which kernels compute many at a time.
#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include <pinion/base/thread_pool.hpp>
#include <pinion/op/elementwise/launch.hpp>
#include <pinion/scalar/derive.hpp>
#include <pinion/scalar/functors.hpp>
#include <pinion/scalar/record.hpp>

namespace {

using namespace pinion;
using op::map_launch;
using op::map_layout;

// Small whole numbers, of which sums are exact.
any_tensor numbers(const shape& extent, int seed) {
  any_tensor t(dtype::float32, extent);
  for (std::int64_t i = 0; i < t.count(); ++i) t.data<float>()[i] = static_cast<float>((i * 7 + seed) % 11 - 5);
  return t;
}
any_tensor filled(const shape& extent, float value) {
  any_tensor t(dtype::float32, extent);
  std::fill_n(t.data<float>(), t.count(), value);
  return t;
}

// The position in an operand of an element of the space.
std::size_t position(const shape& space, const shape& operand, std::int64_t element) {
  std::int64_t at = 0, step = 1;
  for (int axis = 1; axis <= space.rank(); ++axis) {
    const std::int64_t index = element % space[space.rank() - axis];
    element /= space[space.rank() - axis];
    if (axis > operand.rank()) continue;
    if (operand[operand.rank() - axis] != 1) at += index * step;
    step *= operand[operand.rank() - axis];
  }
  return static_cast<std::size_t>(at);
}

bool all_equal(const any_tensor& t, const std::vector<float>& want) {
  return std::equal(want.begin(), want.end(), t.data<float>(), t.data<float>() + t.count());
}

// Runs the gradient of x b for each input: dx = dy b, db = dy x, summed over the axes along which they are repeated.
void check_product(const shape& space, const shape& xs, const shape& bs) {
  const auto x = numbers(xs, 1), b = numbers(bs, 2), dy = numbers(space, 3);
  const auto dx = filled(xs, -99), db = filled(bs, -99);
  std::vector<float> want_dx(static_cast<std::size_t>(dx.count())), want_db(static_cast<std::size_t>(db.count()));
  for (std::int64_t i = 0; i < space.count(); ++i) {
    const std::size_t at_x = position(space, xs, i), at_b = position(space, bs, i);
    want_dx[at_x] += dy.data<float>()[i] * b.data<float>()[at_b];
    want_db[at_b] += dy.data<float>()[i] * x.data<float>()[at_x];
  }
  const auto p =
      scalar::derive(scalar::record<scalar::program, scalar::functor::multiply>(dtype::float32, dtype::float32));
  thread_pool pool(3);
  for (const auto which : {op::program_runner::any, op::program_runner::interpreter_only}) {
    task_services services{.intra_op = which == op::program_runner::any ? &pool : nullptr};
    const op::program_runner runner(p, which);
    map_launch launch(runner, std::make_shared<const map_layout>(std::vector<shape>{xs, bs, space}, space,
                                                                 std::vector<shape>{xs, bs}, scalar::executable(p)));
    for (const auto& t : {x, b, dy, dx, db}) launch.operand(t);
    launch.run(services);
    INFO(to_string(space) << ": " << to_string(xs) << " and " << to_string(bs));
    CHECK(all_equal(dx, want_dx));
    CHECK(all_equal(db, want_db));
  }
}

}  // namespace

TEST_CASE("gradients over short rows are what they are element by element, however inputs are broadcast") {
  for (const std::int64_t rows : {1, 2, 17, 300})
    for (const std::int64_t n : {1, 2, 3, 5, 16, 21, 200, 1000}) {
      const shape space{3, rows, n};
      for (const shape& b : {space, shape{rows, n}, shape{n}, shape{rows, 1}, shape{3, 1, n}, shape{3, rows, 1},
                             shape{3, 1, 1}, shape{1}, shape{}})
        check_product(space, space, b);
      check_product(space, shape{n}, shape{3, rows, 1});
      check_product(space, shape{rows, 1}, shape{n});
    }
}

TEST_CASE("large gradients are split over threads, and so are their sums") {
  const shape space{600, 500};
  for (const shape& b : {space, shape{500}, shape{600, 1}, shape{1}}) check_product(space, space, b);
  check_product({300000}, {300000}, {1});
}

TEST_CASE("conditions, too, are repeated over short rows") {
  const auto p = scalar::record<scalar::program, scalar::functor::selection>(dtype::float32, dtype::float32);
  for (const shape& cs : {shape{7}, shape{100, 1}, shape{100, 7}}) {
    any_tensor condition(dtype::boolean, cs);
    for (std::int64_t i = 0; i < condition.count(); ++i) condition.data<bool>()[i] = i % 3 == 0;
    const shape space{100, 7};
    const auto a = numbers(space, 1), b = numbers({7}, 2), y = filled(space, -99);
    const op::program_runner runner(p);
    map_launch launch(runner, std::make_shared<const map_layout>(std::vector<shape>{cs, space, {7}}, space,
                                                                 std::vector<shape>{space}, p));
    for (const auto& t : {condition, a, b, y}) launch.operand(t);
    task_services services;
    launch.run(services);
    std::vector<float> want;
    for (std::int64_t i = 0; i < space.count(); ++i)
      want.push_back(condition.data<bool>()[position(space, cs, i)] ? a.data<float>()[i] : b.data<float>()[i % 7]);
    CHECK(all_equal(y, want));
  }
}
