// Queues: elements that wait between steps, in the task that holds the queue. Rules and names: TensorFlow 1.15,
// queue_base.cc and its kinds; but a dequeue of many that is cancelled gives back what it had collected.
#pragma once

#include <string>

#include <pinion/op/definition.hpp>
#include <pinion/op/gradient_context.hpp>
#include <pinion/op/queue/components.hpp>
#include <pinion/op/shape_context.hpp>

namespace pinion::inline v0::op {

namespace detail {

inline constexpr dtype_set nothing{dtype::invalid};

inline void infer_queue(shape_context& c) {
  const queue_components all = components_of(c.attrs());
  if (all.size() == 0) c.fail("a queue needs the dtype of at least one component");
  for (const shape& s : all.shapes)
    if (s.has_rank() && s.rank() == shape::max_rank)
      c.fail("a component of shape " + to_string(s) + " has too many dimensions to be put together to batches");
  c.handle();
}

// The components of the queue at input 0.
inline queue_components queue_at_input(const shape_context& c) {
  c.expect_handle(0, "a queue");
  const queue_components all = components_of(c.maker(0).attrs);
  if (all.size() == 0) c.fail("its input is a " + c.maker(0).op + ", not a queue");
  return all;
}

inline void expect_components(const shape_context& c, const queue_components& all) {
  if (c.inputs() - 1 != static_cast<int>(all.size()))
    c.fail("an element of the queue has " + std::to_string(all.size()) + " components (" + to_string(all) + "), not " +
           std::to_string(c.inputs() - 1));
  for (int i = 1; i < c.inputs(); ++i) {
    const dtype wanted = all.types[static_cast<std::size_t>(i - 1)];
    if (c.dtype(i) != wanted)
      c.fail("component " + std::to_string(i - 1) + " of the queue is " + std::string(to_string(wanted)) + ", not " +
             std::string(to_string(c.dtype(i))));
  }
}

// A shape with one dimension more in front.
inline shape stacked(std::int64_t n, const shape& s) {
  if (!s.has_rank()) return shape::any();
  shape y{n};
  for (const std::int64_t extent : s.dims()) y.push_back(extent);
  return y;
}

// The smallest shape that admits both; shapes of batches of a padding queue are not known before.
inline void infer_batch(shape_context& c, std::int64_t n) {
  const queue_components all = queue_at_input(c);
  const bool pads = c.maker(0).op == "PaddingFIFOQueueV2";
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all.shapes[i].known() && !pads)
      c.fail("several elements at once need components of known shapes; the queue has " + to_string(all));
    c.output(all.types[i], stacked(n, all.shapes[i]));
  }
}

inline std::int64_t expect_count(const shape_context& c) {
  const auto n = c.attrs().get<std::int64_t>("n");
  if (n < 0) c.fail(std::to_string(n) + " elements cannot be dequeued");
  return n;
}

}  // namespace detail

// ---- queues: attributes "capacity" (negative: any number) and the components; an output that stays where it is ------

template <class Self>
struct queue {
  static constexpr input_count inputs = 0;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::string}};
  static constexpr bool stateful = true;
  static constexpr bool on_host = true;
  static void infer(shape_context& c) { detail::infer_queue(c); }
  static void gradient(gradient_context&) {}
};

// First in, first out.
struct fifo_queue : queue<fifo_queue> {
  static constexpr std::string_view name = "FIFOQueueV2";
};
// Any of more than "min_after_dequeue" elements; of all, once closed. "seed" 0: others in each process.
struct random_shuffle_queue : queue<random_shuffle_queue> {
  static constexpr std::string_view name = "RandomShuffleQueueV2";
  static void infer(shape_context& c) {
    const auto capacity = c.attrs().get<std::int64_t>("capacity"),
               least = c.attrs().get<std::int64_t>("min_after_dequeue");
    if (least < 0 || (capacity >= 0 && least >= capacity))
      c.fail("min_after_dequeue is " + std::to_string(least) + "; it is at least 0 and below the capacity, " +
             std::to_string(capacity));
    detail::infer_queue(c);
  }
};
// First in, first out; components of shapes with unknown dimensions, which batches fill up with zeros.
struct padding_fifo_queue : queue<padding_fifo_queue> {
  static constexpr std::string_view name = "PaddingFIFOQueueV2";
  static void infer(shape_context& c) {
    const queue_components all = components_of(c.attrs());
    for (const shape& s : all.shapes)
      if (!s.has_rank()) c.fail("a padding queue needs the rank of every component; it has " + to_string(all));
    detail::infer_queue(c);
  }
};
// Smallest first component first; of equals the one that came first.
struct priority_queue : queue<priority_queue> {
  static constexpr std::string_view name = "PriorityQueueV2";
  static void infer(shape_context& c) {
    const queue_components all = components_of(c.attrs());
    if (all.size() == 0 || all.types[0] != dtype::int64 || !(all.shapes[0] == shape{}))
      c.fail("the first component of a priority queue is its priority, one int64, not " + to_string(all));
    detail::infer_queue(c);
  }
};

// ---- what works on them: the queue is input 0
// ------------------------------------------------------------------------

template <class Self>
struct queue_op {
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = detail::nothing};
  static constexpr int states = 1;
  static constexpr bool stateful = true;
  static constexpr bool on_host = true;
  static constexpr bool heeds_guards = true;
  static void gradient(gradient_context&) {}
};

// Inputs: an element's components. Waits for room.
struct queue_enqueue : queue_op<queue_enqueue> {
  static constexpr std::string_view name = "QueueEnqueueV2";
  static constexpr input_count inputs = at_least(2);
  static void infer(shape_context& c) {
    const queue_components all = detail::queue_at_input(c);
    detail::expect_components(c, all);
    for (int i = 1; i < c.inputs(); ++i)
      if (const shape& wanted = all.shapes[static_cast<std::size_t>(i - 1)]; !fits(c.shape(i), wanted))
        c.fail("component " + std::to_string(i - 1) + " of the queue has shape " + to_string(wanted) + ", not " +
               to_string(c.shape(i)));
  }
};
// The same with one dimension more in front: an element a slice, each as room appears.
struct queue_enqueue_many : queue_op<queue_enqueue_many> {
  static constexpr std::string_view name = "QueueEnqueueManyV2";
  static constexpr input_count inputs = at_least(2);
  static void infer(shape_context& c) {
    const queue_components all = detail::queue_at_input(c);
    detail::expect_components(c, all);
    for (int i = 1; i < c.inputs(); ++i) {
      const shape wanted = detail::stacked(unknown, all.shapes[static_cast<std::size_t>(i - 1)]);
      if (!fits(c.shape(i), wanted) || (c.shape(i).has_rank() && c.shape(i).rank() == 0))
        c.fail("elements of the queue stacked along a first dimension have shape " + to_string(wanted) + ", not " +
               to_string(c.shape(i)));
    }
  }
};
// One element. Waits until there is one.
struct queue_dequeue : queue_op<queue_dequeue> {
  static constexpr std::string_view name = "QueueDequeueV2";
  static constexpr kernel_set kernels{.cpu = dtypes::all};
  static void infer(shape_context& c) {
    const queue_components all = detail::queue_at_input(c);
    for (std::size_t i = 0; i < all.size(); ++i) c.output(all.types[i], all.shapes[i]);
  }
};
// "n" elements, stacked. Collects them as they come.
struct queue_dequeue_many : queue_op<queue_dequeue_many> {
  static constexpr std::string_view name = "QueueDequeueManyV2";
  static constexpr kernel_set kernels{.cpu = dtypes::all};
  static void infer(shape_context& c) { detail::infer_batch(c, detail::expect_count(c)); }
};
// The same, but of a closed queue what is left.
struct queue_dequeue_up_to : queue_op<queue_dequeue_up_to> {
  static constexpr std::string_view name = "QueueDequeueUpToV2";
  static constexpr kernel_set kernels{.cpu = dtypes::all};
  static void infer(shape_context& c) {
    detail::expect_count(c);
    detail::infer_batch(c, unknown);
  }
};
struct queue_size : queue_op<queue_size> {
  static constexpr std::string_view name = "QueueSizeV2";
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int32}};
  static void infer(shape_context& c) {
    detail::queue_at_input(c);
    c.output(dtype::int32, {});
  }
};
struct queue_is_closed : queue_op<queue_is_closed> {
  static constexpr std::string_view name = "QueueIsClosedV2";
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::boolean}};
  static void infer(shape_context& c) {
    detail::queue_at_input(c);
    c.output(dtype::boolean, {});
  }
};
// Behind the enqueues that wait; with "cancel_pending_enqueues" at once, and those fail.
struct queue_close : queue_op<queue_close> {
  static constexpr std::string_view name = "QueueCloseV2";
  static void infer(shape_context& c) { detail::queue_at_input(c); }
};

}  // namespace pinion::inline v0::op
