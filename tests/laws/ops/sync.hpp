// What replicas meet at. Nodes run in sessions alone: who counts and who waits is tested in tests/train, shapes and
// refusals here.
#pragma once

#include "laws/row.hpp"

namespace laws {

inline std::vector<row> sync_rows() {
  using enum role;
  const auto accumulator = [](dtype d) {
    return attributes{{"dtype", d == dtype::float64 ? d : dtype::float32}, {"shape", shape{3, 2}}};
  };
  const auto barrier = plain({{"replicas_to_aggregate", std::int64_t{1}}, {"total_num_replicas", std::int64_t{2}}});
  const auto clock = plain({{"total_num_replicas", std::int64_t{2}}});
  const input one{{}, index64, 0, 5}, several{{4}, index64, 0, 5};
  const input task{{}, words};
  const any_tensor n = random_value({}, one, dtype::int64, 1), name = random_value({}, task, dtype::int64, 1);

  struct meeting {
    std::string_view resource;
    std::function<attributes(dtype)> attrs;
  };
  const meeting at_accumulator{"GradientAccumulator", accumulator}, at_barrier{"ReplicaBarrier", barrier},
      at_clock{"ReplicaClock", clock};
  // An op at a resource, and what it refuses besides a value in the resource's place.
  const auto on = [=](const meeting& m, std::string_view op, std::vector<input> more, attributes attrs,
                      std::vector<std::pair<std::vector<any_tensor>, std::string>> refuses = {}) {
    sample s{"a resource", {{{}, handle}}, plain(attrs)};
    s.inputs.insert(s.inputs.end(), more.begin(), more.end());
    s.resource = m.resource;
    s.resource_attrs = m.attrs;
    misfit value{op, random_values(s, dtype::float32), attrs, "is a value"};
    std::vector<misfit> all{value};
    for (auto& [inputs, says] : refuses) {
      inputs.insert(inputs.begin(), f({}));
      all.push_back({op, inputs, attrs, says, std::string(m.resource), m.attrs(dtype::float32)});
    }
    return row{{op},
               [=](std::string_view, std::int64_t, std::int64_t) -> std::vector<sample> { return {s}; },
               nullptr,
               std::move(all)};
  };
  const auto kind = [=](std::string_view op, std::function<attributes(dtype)> attrs, attributes wrong,
                        std::string says) {
    return row{{op},
               [=](std::string_view, std::int64_t, std::int64_t) -> std::vector<sample> {
                 return {{"a resource", {}, attrs}};
               },
               nullptr,
               {{op, {}, std::move(wrong), std::move(says)}}};
  };
  const attributes none;
  return {
      kind("GradientAccumulator", accumulator, {{"dtype", dtype::int32}, {"shape", shape{}}}, "gradients of int32"),
      on(at_accumulator, "AccumulatorApplyGradient", {one, one, {{3, 2}}}, none,
         {{{f({}), n, f({3, 2})}, "the step is int64"},
          {{n, f({}), f({3, 2})}, "the ticket is int64"},
          {{n, n, f({2})}, "shape [2] for an accumulator of shape [3, 2]"},
          {{n, n, d({3, 2})}, "a double gradient"}}),
      on(at_accumulator, "SparseAccumulatorApplyGradient", {one, one, {{4}, index32, 0, 3}, {{4, 2}}}, none,
         {{{n, n, f({4}), f({4, 2})}, "int32 or int64"}, {{n, n, i({2, 2}), f({4, 2})}, "must have 1 dimensions"}}),
      on(at_accumulator, "AccumulatorTakeGradient", {one, several}, none,
         {{{n, n}, "the tickets must have 1 dimensions"}}),
      on(at_accumulator, "SparseAccumulatorTakeGradient", {one, several}, none,
         {{{n, f({2})}, "the tickets is int64"}}),
      on(at_accumulator, "AccumulatorSetStep", {one}, none, {{{f({})}, "the step is int64"}}),
      kind("ReplicaBarrier", barrier,
           {{"replicas_to_aggregate", std::int64_t{0}}, {"total_num_replicas", std::int64_t{2}}}, "not 0 of 2"),
      on(at_barrier, "BarrierEnter", {one, task}, none,
         {{{f({}), name}, "the replica is int64"}, {{n, n}, "the task's name is a string"}}),
      on(at_barrier, "BarrierCommit", {one, one, one}, none,
         {{{f({}), n, n}, "the replica is int64"}, {{n, n, f({})}, "the step is int64"}}),
      on(at_barrier, "BarrierTake", {}, none),
      on(at_barrier, "BarrierAdvance", {one}, none, {{{f({})}, "the step is int64"}}),
      on(at_barrier, "BarrierStop", {}, none),
      on(at_barrier, "BarrierLeave", {one}, none, {{{f({})}, "the replica is int64"}}),
      on(at_barrier, "BarrierExpire", {one}, {{"patience_ms", std::int64_t{5}}}, {{{f({})}, "the replica is int64"}}),
      on(at_barrier, "BarrierCounts", {}, none),
      kind("ReplicaClock", clock, {{"total_num_replicas", std::int64_t{0}}}, "the clocks of 0 replicas"),
      on(at_clock, "ClockEnter", {one, task}, none,
         {{{f({}), name}, "the replica is int64"}, {{n, n}, "the task's name is a string"}}),
      on(at_clock, "ClockTick", {one}, {{"bound", std::int64_t{1}}}, {{{f({})}, "the replica is int64"}}),
      on(at_clock, "ClockLeave", {one}, none, {{{f({})}, "the replica is int64"}}),
      on(at_clock, "ClockExpire", {one}, {{"patience_ms", std::int64_t{5}}}, {{{f({})}, "the replica is int64"}}),
      on(at_clock, "ClockCounts", {}, none),
  };
}

}  // namespace laws
