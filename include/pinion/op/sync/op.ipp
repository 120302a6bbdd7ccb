// Bodies of <pinion/op/sync/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/sync/op.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void expect_int64(const shape_context& c, int i, std::string_view what, int rank) {
  if (c.dtype(i) != dtype::int64) c.fail(std::string(what) + " is int64, not " + std::string(to_string(c.dtype(i))));
  c.expect_rank(i, rank, what);
}

PINION_DECL void expect_task(const shape_context& c, int i) {
  if (c.dtype(i) != dtype::string) c.fail("the task's name is a string, not " + std::string(to_string(c.dtype(i))));
  c.expect_rank(i, 0, "the task's name");
}

PINION_DECL void expect_resource(const shape_context& c, std::string_view op, std::string_view what) {
  c.expect_handle(0, what);
  if (c.maker(0).op != op) c.fail("its input is a " + c.maker(0).op + ", not " + std::string(what));
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void gradient_accumulator::infer(shape_context& c) {
  const auto type = c.attrs().get<dtype>("dtype");
  if (!dtypes::floating.has(type)) c.fail("gradients of " + std::string(to_string(type)) + " are not accumulated");
  (void)c.attrs().get<shape>("shape");
  c.handle();
}

}}}  // namespace pinion::v0::op

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void on_accumulator::expect(const shape_context& c, bool step) {
  expect_resource(c, gradient_accumulator::name, "an accumulator");
  if (step) expect_int64(c, 1, "the step");
}

PINION_DECL dtype on_accumulator::type_at(const shape_context& c) {
  return c.maker(0).attrs.get<dtype>("dtype");
}

PINION_DECL const shape& on_accumulator::shape_at(const shape_context& c) {
  return c.maker(0).attrs.get<shape>("shape");
}

PINION_DECL void on_accumulator::expect_gradient(const shape_context& c, int i) {
  if (c.dtype(i) != type_at(c))
    c.fail("a " + std::string(to_string(c.dtype(i))) + " gradient for an accumulator of " +
           std::string(to_string(type_at(c))));
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void accumulator_apply::infer(shape_context& c) {
  expect(c, true);
  detail::expect_int64(c, 2, "the ticket");
  expect_gradient(c, 3);
  if (!fits(c.shape(3), shape_at(c)))
    c.fail("a gradient of shape " + to_string(c.shape(3)) + " for an accumulator of shape " + to_string(shape_at(c)));
}

PINION_DECL void sparse_accumulator_apply::infer(shape_context& c) {
  expect(c, true);
  detail::expect_int64(c, 2, "the ticket");
  if (c.dtype(3) != dtype::int32 && c.dtype(3) != dtype::int64) c.fail("indices of rows are int32 or int64");
  c.expect_rank(3, 1, "indices of rows");
  expect_gradient(c, 4);
}

PINION_DECL void accumulator_take::infer(shape_context& c) {
  expect(c, true);
  detail::expect_int64(c, 2, "the tickets", 1);
  c.output(type_at(c), shape_at(c));
}

PINION_DECL void sparse_accumulator_take::infer(shape_context& c) {
  expect(c, true);
  detail::expect_int64(c, 2, "the tickets", 1);
  shape rows = shape_at(c);
  if (rows.has_rank() && rows.rank() == 0) c.fail("an accumulator of scalars has no rows");
  if (rows.has_rank()) rows.set(0, unknown);
  c.output(dtype::int64, {unknown});
  c.output(type_at(c), rows);
}

PINION_DECL void accumulator_set_step::infer(shape_context& c) {
  expect(c, true);
}

PINION_DECL void replica_barrier::infer(shape_context& c) {
  const auto aggregate = c.attrs().get<std::int64_t>("replicas_to_aggregate"),
             total = c.attrs().get<std::int64_t>("total_num_replicas");
  if (aggregate < 1 || total < 1 || total > 1'000'000)
    c.fail("a step aggregates at least one replica of at least one, not " + std::to_string(aggregate) + " of " +
           std::to_string(total));
  c.handle();
}

PINION_DECL void barrier_commit::infer(shape_context& c) {
  expect(c);
  detail::expect_int64(c, 1, "the replica");
  detail::expect_int64(c, 2, "the ticket");
  detail::expect_int64(c, 3, "the step");
  c.output(dtype::int64, {});
  c.output(dtype::boolean, {});
}

PINION_DECL void barrier_take::infer(shape_context& c) {
  expect(c);
  c.output(dtype::int64, {});
  c.output(dtype::int64, {unknown});
}

PINION_DECL void barrier_advance::infer(shape_context& c) {
  expect(c);
  detail::expect_int64(c, 1, "the step");
}

PINION_DECL void barrier_stop::infer(shape_context& c) {
  expect(c);
}

PINION_DECL void replica_clock::infer(shape_context& c) {
  const auto total = c.attrs().get<std::int64_t>("total_num_replicas");
  if (total < 1 || total > 1'000'000) c.fail("the clocks of " + std::to_string(total) + " replicas");
  c.handle();
}

PINION_DECL void clock_tick::infer(shape_context& c) {
  expect(c);
  detail::expect_int64(c, 1, "the replica");
  if (c.attrs().get<std::int64_t>("bound") < 0) c.fail("a replica is never less than 0 steps ahead");
  c.output(dtype::int64, {});
}

}}}  // namespace pinion::v0::op
