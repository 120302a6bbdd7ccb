// Queues: elements that wait between steps, in the task that holds the queue. Rules and names are those of TensorFlow
// 1.15, queue_base.cc and its kinds, except that a cancelled dequeue of many gives back the elements it had collected.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/op_names.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>
#include <pinion/state/queue_components.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

inline constexpr attribute_list queue_attrs =
    attr::state_key +
    attribute_list{attr::integer("capacity"), attr::dtype("dtype").numbered(), attr::shape("shape").numbered()};

void infer_queue(shape_context& c);

// The components of the queue at input 0.
state::queue_components queue_at_input(const shape_context& c);

void expect_components(const shape_context& c, const state::queue_components& all);

// A shape with one more axis in front.
shape stacked(std::int64_t n, const shape& s);

// Declares the outputs of a batch of n elements: each component with n in front. Fails for components of unknown shape,
// unless the queue pads them.
void infer_batch(shape_context& c, std::int64_t n);

std::int64_t expect_count(const shape_context& c);

}  // namespace detail

// ---- queues: attributes "capacity" (negative: any number) and the components; an output that stays where it is

template <class Self>
struct queue {
  static constexpr input_count inputs = 0;
  static constexpr attribute_list attrs = detail::queue_attrs;
  static constexpr kernel_set kernels{.cpu = dtypes::no_value};
  static constexpr bool stateful = true;
  static constexpr bool on_host = true;
  static void infer(shape_context& c) { detail::infer_queue(c); }
  static void gradient(gradient_context&) {}
};

// Yields its elements in the order in which they came.
struct fifo_queue : queue<fifo_queue> {
  static constexpr std::string_view name = "FIFOQueueV2";
};
// Yields a random element, of more than "min_after_dequeue" until it is closed. "seed" 0: another one in each process.
struct random_shuffle_queue : queue<random_shuffle_queue> {
  static constexpr std::string_view name = op_names::random_shuffle_queue;
  static constexpr attribute_list attrs =
      detail::queue_attrs + attribute_list{attr::integer("min_after_dequeue"), attr::integer("seed").optional()};
  static void infer(shape_context& c);
};
// Yields its elements in order. Shapes of components may have unknown extents; batches are padded with zeros.
struct padding_fifo_queue : queue<padding_fifo_queue> {
  static constexpr std::string_view name = "PaddingFIFOQueueV2";
  static void infer(shape_context& c);
};
// Yields the element with the smallest first component; of equal ones, the one that came first.
struct priority_queue : queue<priority_queue> {
  static constexpr std::string_view name = op_names::priority_queue;
  static void infer(shape_context& c);
};

// ---- what works on them: the queue is input 0

template <class Self>
struct queue_op {
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{};
  static constexpr kernel_set kernels{.cpu = dtypes::no_value};
  static constexpr int states = 1;
  static constexpr bool stateful = true;
  static constexpr bool on_host = true;
  static constexpr bool heeds_guards = true;
  static void gradient(gradient_context&) {}
};

// Puts one element, whose components are the inputs. Waits for room.
struct queue_enqueue : queue_op<queue_enqueue> {
  static constexpr std::string_view name = "QueueEnqueueV2";
  static constexpr input_count inputs = at_least(2);
  static constexpr bool bears_changing_inputs = true;
  static void infer(shape_context& c);
};
// Puts the slices of the inputs along their first axis as elements, each as room appears.
struct queue_enqueue_many : queue_op<queue_enqueue_many> {
  static constexpr std::string_view name = "QueueEnqueueManyV2";
  static constexpr input_count inputs = at_least(2);
  static constexpr bool bears_changing_inputs = true;
  static void infer(shape_context& c);
};
// Takes one element. Waits until there is one.
struct queue_dequeue : queue_op<queue_dequeue> {
  static constexpr std::string_view name = "QueueDequeueV2";
  static constexpr kernel_set kernels{.cpu = dtypes::all};
  static void infer(shape_context& c);
};
// Takes "n" elements, stacked, and collects them as they come.
struct queue_dequeue_many : queue_op<queue_dequeue_many> {
  static constexpr std::string_view name = "QueueDequeueManyV2";
  static constexpr attribute_list attrs{attr::integer("n")};
  static constexpr kernel_set kernels{.cpu = dtypes::all};
  static void infer(shape_context& c);
};
// Takes "n" elements, stacked; a closed queue yields those left.
struct queue_dequeue_up_to : queue_op<queue_dequeue_up_to> {
  static constexpr std::string_view name = "QueueDequeueUpToV2";
  static constexpr attribute_list attrs{attr::integer("n")};
  static constexpr kernel_set kernels{.cpu = dtypes::all};
  static void infer(shape_context& c);
};
struct queue_size : queue_op<queue_size> {
  static constexpr std::string_view name = "QueueSizeV2";
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int32}};
  static void infer(shape_context& c);
};
struct queue_is_closed : queue_op<queue_is_closed> {
  static constexpr std::string_view name = "QueueIsClosedV2";
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::boolean}};
  static void infer(shape_context& c);
};
// Closes the queue after the enqueues that wait; with "cancel_pending_enqueues" at once, and those fail.
struct queue_close : queue_op<queue_close> {
  static constexpr std::string_view name = "QueueCloseV2";
  static constexpr attribute_list attrs{attr::flag("cancel_pending_enqueues").optional()};
  static void infer(shape_context& c);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/queue/op.ipp>
#endif
