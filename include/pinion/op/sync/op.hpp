// What replicas that train one model together meet at: accumulators of gradients, the barrier of synchronous training,
// and the clocks of bounded staleness. Beside TensorFlow's accumulators, which judge each gradient by itself, here the
// barrier decides once for all gradients of a replica's step.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/definition.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/state/lag_counts.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

struct sync_op {
  static constexpr kernel_set kernels{.cpu = dtypes::no_value};
  static constexpr bool stateful = true;
  static constexpr bool on_host = true;
  static void gradient(gradient_context&) {}
};
struct sync_resource : sync_op {
  static constexpr input_count inputs = 0;
};
// Works on the resource at input 0.
struct on_resource : sync_op {
  static constexpr int states = 1;
};

void expect_int64(const shape_context& c, int i, std::string_view what, int rank = 0);
void expect_resource(const shape_context& c, std::string_view op, std::string_view what);
}  // namespace detail

// ---- accumulators

// Attributes "dtype" and "shape", those of a variable; an output that stays where it is.
struct gradient_accumulator : detail::sync_resource {
  static constexpr std::string_view name = "GradientAccumulator";
  static void infer(shape_context& c);
};

namespace detail {
struct on_accumulator : on_resource {
  static void expect(const shape_context& c, bool step);
  static dtype type_at(const shape_context& c);
  static const shape& shape_at(const shape_context& c);
  static void expect_gradient(const shape_context& c, int i);
};
}  // namespace detail

// Inputs: the accumulator, the step (int64), the ticket (int64), the gradient.
struct accumulator_apply : detail::on_accumulator {
  static constexpr std::string_view name = "AccumulatorApplyGradient";
  static constexpr input_count inputs = 4;
  static void infer(shape_context& c);
};
// The same of a gradient of some rows: indices (int32, int64) [n] and rows [n, ...].
struct sparse_accumulator_apply : detail::on_accumulator {
  static constexpr std::string_view name = "SparseAccumulatorApplyGradient";
  static constexpr input_count inputs = 5;
  static void infer(shape_context& c);
};
// Inputs: the accumulator, the step, the tickets (int64 [k]) of those that count. Their mean, or with "sum" their sum.
struct accumulator_take : detail::on_accumulator {
  static constexpr std::string_view name = "AccumulatorTakeGradient";
  static constexpr input_count inputs = 3;
  static constexpr kernel_set kernels{.cpu = dtypes::floating};
  static void infer(shape_context& c);
};
// The same of rows: the indices (int64) and rows of all, one behind the other.
struct sparse_accumulator_take : detail::on_accumulator {
  static constexpr std::string_view name = "SparseAccumulatorTakeGradient";
  static constexpr input_count inputs = 3;
  static constexpr kernel_set kernels{.cpu = dtypes::floating};
  static dtype key(const node& n) { return n.outputs[1].dtype; }
  static void infer(shape_context& c);
};
// Inputs: the accumulator, a step. Gradients of it and of later steps are kept; of what there was, those of the step.
struct accumulator_set_step : detail::on_accumulator {
  static constexpr std::string_view name = "AccumulatorSetStep";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
};

// ---- what a barrier and a clock have in common

namespace detail {

// Works on what `Kind` makes, and what is called so.
template <class Kind>
struct on_kind : on_resource {
  static constexpr input_count inputs = 1;
  static void expect(const shape_context& c) { expect_resource(c, Kind::name, Kind::called); }
};
// A replica is there. Inputs: the barrier or clock, the replica's number, or -1: any that was not there yet or has
// left. Yields so many numbers.
template <class Kind, int Numbers>
struct on_entering : on_kind<Kind> {
  static constexpr input_count inputs = 2;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c) {
    on_kind<Kind>::expect(c);
    expect_int64(c, 1, "the replica");
    for (int i = 0; i < Numbers; ++i) c.output(dtype::int64, {});
  }
};
// Inputs: the barrier or clock, the replica.
template <class Kind>
struct on_leaving : on_kind<Kind> {
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c) {
    on_kind<Kind>::expect(c);
    expect_int64(c, 1, "the replica");
  }
};
// Those that keep the others waiting for more than "patience_ms" have left.
template <class Kind>
struct on_expiry : on_kind<Kind> {
  static void infer(shape_context& c) {
    on_kind<Kind>::expect(c);
    (void)c.attrs().get<std::int64_t>("patience_ms");
  }
};
// Yields so many totals, and how often something was how many steps late or ahead.
template <class Kind, int Totals>
struct on_counting : on_kind<Kind> {
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c) {
    on_kind<Kind>::expect(c);
    c.output(dtype::int64, {Totals});
    c.output(dtype::int64, {lag_counts::size});
  }
};

}  // namespace detail

// ---- the barrier of synchronous training

// Attributes "replicas_to_aggregate", "total_num_replicas".
struct replica_barrier : detail::sync_resource {
  static constexpr std::string_view name = "ReplicaBarrier", called = "a barrier";
  static void infer(shape_context& c);
};

namespace detail {
using on_barrier = on_kind<replica_barrier>;
}  // namespace detail

// Inputs: the barrier, the number of the replica that is there, or -1: any that was not there yet or has left. Yields
// the step that it shall work on, its number, and 1 if training has ended there, 0 otherwise.
struct barrier_enter : detail::on_entering<replica_barrier, 3> {
  static constexpr std::string_view name = "BarrierEnter";
};
// Inputs: the barrier, the replica, the ticket, the step. Its gradients are where they belong. Waits for the step's
// update; yields the step to go on with, and whether the gradients counted. out_of_range: training has ended.
struct barrier_commit : detail::on_barrier {
  static constexpr std::string_view name = "BarrierCommit";
  static constexpr input_count inputs = 4;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c);
};
// Waits for enough replicas. Yields the step, and the tickets of those that count.
struct barrier_take : detail::on_barrier {
  static constexpr std::string_view name = "BarrierTake";
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c);
};
// Inputs: the barrier, the step that all go on with. "begins": the chief does, whatever was stopped before.
struct barrier_advance : detail::on_barrier {
  static constexpr std::string_view name = "BarrierAdvance";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
};
// No more updates: takes that wait, or come, are cancelled; with "ended" replicas that wait, or come, end with
// out_of_range. Until the chief begins anew.
struct barrier_stop : detail::on_barrier {
  static constexpr std::string_view name = "BarrierStop";
  static void infer(shape_context& c);
};
struct barrier_leave : detail::on_leaving<replica_barrier> {
  static constexpr std::string_view name = "BarrierLeave";
};
struct barrier_expire : detail::on_expiry<replica_barrier> {
  static constexpr std::string_view name = "BarrierExpire";
};
// Yields accepted, dropped, rounds, live [4]; and how many commits were how many steps late [16], the last: or more.
struct barrier_counts : detail::on_counting<replica_barrier, 4> {
  static constexpr std::string_view name = "BarrierCounts";
};

// ---- the clocks of bounded staleness

// Attribute "total_num_replicas".
struct replica_clock : detail::sync_resource {
  static constexpr std::string_view name = "ReplicaClock", called = "a clock";
  static void infer(shape_context& c);
};

// Yields the replica's number.
struct clock_enter : detail::on_entering<replica_clock, 1> {
  static constexpr std::string_view name = "ClockEnter";
};
// Inputs: the clock, the replica, which has made a step. Waits until it is at most "bound" steps ahead of the slowest;
// yields how far it is.
struct clock_tick : detail::on_kind<replica_clock> {
  static constexpr std::string_view name = "ClockTick";
  static constexpr input_count inputs = 2;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c);
};
struct clock_leave : detail::on_leaving<replica_clock> {
  static constexpr std::string_view name = "ClockLeave";
};
struct clock_expire : detail::on_expiry<replica_clock> {
  static constexpr std::string_view name = "ClockExpire";
};
// Yields steps, waits, live [3]; and how many steps ended how many steps ahead of the slowest [16], the last: or more.
struct clock_counts : detail::on_counting<replica_clock, 3> {
  static constexpr std::string_view name = "ClockCounts";
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/sync/op.ipp>
#endif
