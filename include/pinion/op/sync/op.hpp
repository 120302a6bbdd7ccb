// The meeting points of replicas that train one model together: accumulators of gradients, the barrier of synchronous
// training, and the clocks of bounded staleness. TensorFlow's accumulators judge each gradient separately; here the
// barrier decides once for all gradients of a replica's step.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/state/lag_counts.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

struct sync_op {
  static constexpr attribute_list attrs{};
  static constexpr kernel_set kernels{.cpu = dtypes::no_value};
  static constexpr bool stateful = true;
  static constexpr bool on_host = true;
  static void gradient(gradient_context&) {}
};
struct sync_resource : sync_op {
  static constexpr input_count inputs = 0;
};
// The base of ops that work on the resource at input 0.
struct on_resource : sync_op {
  static constexpr int states = 1;
};

void expect_int64(const shape_context& c, int i, std::string_view what, int rank = 0);
void expect_task(const shape_context& c, int i);
void expect_resource(const shape_context& c, std::string_view op, std::string_view what);
}  // namespace detail

// ---- accumulators

// An accumulator, which is a resource. Attributes "dtype" and "shape" are those of its variable.
struct gradient_accumulator : detail::sync_resource {
  static constexpr std::string_view name = "GradientAccumulator";
  static constexpr attribute_list attrs = attr::state_key + attribute_list{attr::dtype("dtype"), attr::shape("shape")};
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

// Adds a gradient. Inputs: the accumulator, the step (int64), the ticket (int64), the gradient.
struct accumulator_apply : detail::on_accumulator {
  static constexpr std::string_view name = "AccumulatorApplyGradient";
  static constexpr input_count inputs = 4;
  static constexpr bool bears_changing_inputs = true;
  static void infer(shape_context& c);
};
// Adds a gradient of some rows: indices (int32, int64) [n] and rows [n, ...] take the place of the gradient.
struct sparse_accumulator_apply : detail::on_accumulator {
  static constexpr std::string_view name = "SparseAccumulatorApplyGradient";
  static constexpr input_count inputs = 5;
  static constexpr bool bears_changing_inputs = true;
  static void infer(shape_context& c);
};
// Takes gradients and yields their mean, or with "sum" their sum. Inputs: the accumulator, the step, the tickets (int64
// [k]) that count.
struct accumulator_take : detail::on_accumulator {
  static constexpr std::string_view name = "AccumulatorTakeGradient";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{attr::flag("sum").optional()};
  static constexpr kernel_set kernels{.cpu = dtypes::floating};
  static void infer(shape_context& c);
};
// Takes sparse gradients: yields the indices (int64) and rows of all, one after the other.
struct sparse_accumulator_take : detail::on_accumulator {
  static constexpr std::string_view name = "SparseAccumulatorTakeGradient";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{attr::flag("sum").optional()};
  static constexpr kernel_set kernels{.cpu = dtypes::floating};
  static dtype key(const node& n) { return n.outputs[1].dtype; }
  static void infer(shape_context& c);
};
// Keeps gradients of a step and later ones from now on; of those that arrived before, it keeps those of that step.
// Inputs: the accumulator, the step.
struct accumulator_set_step : detail::on_accumulator {
  static constexpr std::string_view name = "AccumulatorSetStep";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
};

// ---- common to the barrier and the clock

namespace detail {

// The base of ops on a resource that `Kind` makes, named after it.
template <class Kind>
struct on_kind : on_resource {
  static constexpr input_count inputs = 1;
  static void expect(const shape_context& c) { expect_resource(c, Kind::name, Kind::called); }
};
// Registers a replica. Inputs: the barrier or clock; the replica's number, or -1 for any that never entered or has
// left; the full name of the task in which it runs, a string. Yields `Numbers` numbers.
template <class Kind, int Numbers>
struct on_entering : on_kind<Kind> {
  static constexpr input_count inputs = 3;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c) {
    on_kind<Kind>::expect(c);
    expect_int64(c, 1, "the replica");
    expect_task(c, 2);
    for (int i = 0; i < Numbers; ++i) c.output(dtype::int64, {});
  }
};
// Notes that a replica has left. Inputs: the barrier or clock, the replica.
template <class Kind>
struct on_leaving : on_kind<Kind> {
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c) {
    on_kind<Kind>::expect(c);
    expect_int64(c, 1, "the replica");
  }
};
// Notes that replicas which keep the others waiting for more than "patience_ms" have left. Inputs: the barrier or
// clock, and the replica that asks. Yields what this one has not been told so far, string [n]: for whom it waits, who
// was dropped, who is back.
template <class Kind>
struct on_expiry : on_kind<Kind> {
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integer("patience_ms")};
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::string}};
  static void infer(shape_context& c) {
    on_kind<Kind>::expect(c);
    expect_int64(c, 1, "the replica");
    (void)c.attrs().get<std::int64_t>("patience_ms");
    c.output(dtype::string, {unknown});
  }
};
// Yields `Totals` totals, and a histogram of how many steps late or ahead something was.
template <class Kind, int Totals>
struct on_counting : on_kind<Kind> {
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c) {
    on_kind<Kind>::expect(c);
    c.output(dtype::int64, {Totals});
    c.output(dtype::int64, {state::lag_counts::size});
  }
};

}  // namespace detail

// ---- the barrier of synchronous training

// Attributes "replicas_to_aggregate", "total_num_replicas".
struct replica_barrier : detail::sync_resource {
  static constexpr std::string_view name = "ReplicaBarrier", called = "a barrier";
  static constexpr attribute_list attrs =
      attr::state_key + attribute_list{attr::integer("replicas_to_aggregate"), attr::integer("total_num_replicas")};
  static void infer(shape_context& c);
};

namespace detail {
using on_barrier = on_kind<replica_barrier>;
}  // namespace detail

// Yields the step that the replica has to work on, its number, and 1 where training has ended, else 0.
struct barrier_enter : detail::on_entering<replica_barrier, 3> {
  static constexpr std::string_view name = "BarrierEnter";
};
// Reports that a replica's gradients have arrived, and waits for the step's update. Inputs: the barrier, the replica,
// the ticket, the step. Yields the step to go on with, and whether the gradients counted. Fails with out_of_range where
// training has ended.
struct barrier_commit : detail::on_barrier {
  static constexpr std::string_view name = "BarrierCommit";
  static constexpr input_count inputs = 4;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c);
};
// Waits for a full round. Yields the step, and the tickets that count.
struct barrier_take : detail::on_barrier {
  static constexpr std::string_view name = "BarrierTake";
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c);
};
// Lets all replicas go on. Inputs: the barrier, the step. With "begins" the chief starts training, and a stop before it
// is undone.
struct barrier_advance : detail::on_barrier {
  static constexpr std::string_view name = "BarrierAdvance";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::flag("begins").optional()};
  static void infer(shape_context& c);
};
// Stops updates: takes, waiting or future, are cancelled; with "ended" replicas that wait, or come, end with
// out_of_range. This holds until the chief begins anew.
struct barrier_stop : detail::on_barrier {
  static constexpr std::string_view name = "BarrierStop";
  static constexpr attribute_list attrs{attr::flag("ended").optional()};
  static void infer(shape_context& c);
};
struct barrier_leave : detail::on_leaving<replica_barrier> {
  static constexpr std::string_view name = "BarrierLeave";
};
struct barrier_expire : detail::on_expiry<replica_barrier> {
  static constexpr std::string_view name = "BarrierExpire";
};
// Yields accepted, dropped, rounds, live [4]; and a histogram [16] of the steps that commits were late, whose last
// entry counts that many or more.
struct barrier_counts : detail::on_counting<replica_barrier, 4> {
  static constexpr std::string_view name = "BarrierCounts";
};

// ---- the clocks of bounded staleness

// Attribute "total_num_replicas".
struct replica_clock : detail::sync_resource {
  static constexpr std::string_view name = "ReplicaClock", called = "a clock";
  static constexpr attribute_list attrs = attr::state_key + attribute_list{attr::integer("total_num_replicas")};
  static void infer(shape_context& c);
};

// Yields the replica's number.
struct clock_enter : detail::on_entering<replica_clock, 1> {
  static constexpr std::string_view name = "ClockEnter";
};
// Counts a step of a replica, and waits until it is at most "bound" steps ahead of the slowest. Inputs: the clock, the
// replica. Yields the number of steps that it is ahead.
struct clock_tick : detail::on_kind<replica_clock> {
  static constexpr std::string_view name = "ClockTick";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integer("bound")};
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c);
};
struct clock_leave : detail::on_leaving<replica_clock> {
  static constexpr std::string_view name = "ClockLeave";
};
struct clock_expire : detail::on_expiry<replica_clock> {
  static constexpr std::string_view name = "ClockExpire";
};
// Yields steps, waits, live [3]; and a histogram [16] of the steps that a replica was ahead of the slowest when its
// step ended, whose last entry counts that many or more.
struct clock_counts : detail::on_counting<replica_clock, 3> {
  static constexpr std::string_view name = "ClockCounts";
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/sync/op.ipp>
#endif
