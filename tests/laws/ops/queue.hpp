// Queues. Their nodes run in sessions alone: who waits for whom is tested in tests/runtime, shapes and refusals here.
#pragma once

#include <pinion/state/queue_components.hpp>

#include "laws/row.hpp"

namespace laws {

inline attributes queue_attributes(const state::queue_components& components, attributes attrs = {}) {
  attrs.set("capacity", std::int64_t{5});
  state::set_components(attrs, components);
  return attrs;
}

inline std::vector<row> queue_rows() {
  using enum role;
  const auto of = [](shape s) {
    return [s](dtype d) { return queue_attributes({{d == dtype::invalid ? dtype::float32 : d}, {s}}); };
  };
  const auto ranked = [](attributes a) { return [a](dtype) { return a; }; };
  const state::queue_components loose{{dtype::float32}, {shape::any()}}, none,
      pair{{dtype::float32, dtype::int32}, {{2}, {}}};
  const attributes sound = queue_attributes(pair);
  const auto on = [=](std::string_view op, std::vector<any_tensor> inputs, std::string says, attributes attrs = {},
                      attributes resource = {}) {
    misfit m{op, std::move(inputs), std::move(attrs), std::move(says)};
    m.inputs.insert(m.inputs.begin(), f({}));
    m.resource = "FIFOQueueV2";
    m.resource_attrs = resource.begin() == resource.end() ? sound : resource;
    return m;
  };
  const auto sample_on = [=](std::vector<input> more, std::function<attributes(dtype)> attrs, shape s) {
    sample one{"a queue", {{{}, handle}}, std::move(attrs)};
    one.inputs.insert(one.inputs.end(), more.begin(), more.end());
    one.numbers = dtype::float32;
    one.resource = "FIFOQueueV2";
    one.resource_attrs = of(s);
    return one;
  };
  const auto n = [](std::int64_t count) { return plain({{"n", count}}); };
  const auto rows_of = [=](std::string_view op, std::vector<input> more, std::function<attributes(dtype)> attrs,
                           std::vector<misfit> misfits) {
    misfits.push_back({op, {f({2})}, attrs(dtype::float32), "is a value"});
    if (!more.empty()) misfits.back().inputs.push_back(f({2}));
    return row{{op},
               [=](std::string_view, std::int64_t, std::int64_t) -> std::vector<sample> {
                 return {sample_on(more, attrs, {2})};
               },
               nullptr,
               std::move(misfits)};
  };
  const auto kind = [=](std::string_view op, std::function<attributes(dtype)> attrs, std::vector<misfit> misfits) {
    return row{{op},
               [=](std::string_view, std::int64_t, std::int64_t) -> std::vector<sample> {
                 return {{"a queue", {}, attrs}};
               },
               nullptr,
               std::move(misfits)};
  };
  const attributes shuffled =
      queue_attributes(pair, {{"min_after_dequeue", std::int64_t{2}}, {"seed", std::int64_t{1}}});
  const attributes emptied = queue_attributes(pair, {{"min_after_dequeue", std::int64_t{5}}});
  return {
      kind("FIFOQueueV2", ranked(sound), {{"FIFOQueueV2", {}, queue_attributes(none), "at least one component"}}),
      kind("RandomShuffleQueueV2", ranked(shuffled), {{"RandomShuffleQueueV2", {}, emptied, "below the capacity, 5"}}),
      kind("PaddingFIFOQueueV2", ranked(queue_attributes({{dtype::float32}, {{unknown, 2}}})),
           {{"PaddingFIFOQueueV2", {}, queue_attributes(loose), "needs the rank of every component"}}),
      kind("PriorityQueueV2", ranked(queue_attributes({{dtype::int64, dtype::float32}, {{}, {2}}})),
           {{"PriorityQueueV2", {}, sound, "its priority, one int64"}}),
      rows_of("QueueEnqueueV2", {{{2}}}, plain({}),
              {on("QueueEnqueueV2", {f({2})}, "has 2 components (float [2], int32 [])"),
               on("QueueEnqueueV2", {f({3}), i({})}, "component 0 of the queue has shape [2], not [3]"),
               on("QueueEnqueueV2", {f({2}), f({})}, "component 1 of the queue is int32, not float")}),
      rows_of("QueueEnqueueManyV2", {{{7, 2}}}, plain({}),
              {on("QueueEnqueueManyV2", {f({2}), i({3})}, "have shape [?, 2], not [2]"),
               on("QueueEnqueueManyV2", {f({3, 2}), i({})}, "have shape [?], not []")}),
      rows_of("QueueDequeueV2", {}, plain({}), {}),
      rows_of("QueueDequeueManyV2", {}, n(3),
              {on("QueueDequeueManyV2", {}, "need components of known shapes", {{"n", std::int64_t{2}}},
                  queue_attributes(loose)),
               on("QueueDequeueManyV2", {}, "-2 elements", {{"n", std::int64_t{-2}}})}),
      rows_of("QueueDequeueUpToV2", {}, n(3), {on("QueueDequeueUpToV2", {}, "-1 elements", {{"n", std::int64_t{-1}}})}),
      rows_of("QueueSizeV2", {}, plain({}), {}),
      rows_of("QueueIsClosedV2", {}, plain({}), {}),
      rows_of("QueueCloseV2", {}, plain({}), {}),
  };
}

}  // namespace laws
