// Queues in a graph: one step puts elements in, another takes them out. The task that runs the queue's node holds the
// elements.
//
//   pn::fifo_queue<float, int> q({.capacity = 10, .shapes = {{784}, {}}});
//   auto put = q.enqueue(image, label);
//   auto [images, labels] = q.dequeue_many(32);
//
// An op on a queue runs in the task that holds it. One that has to wait holds no thread. It ends when there is room or
// an element for it, when the queue was closed and holds too few elements, or when its step or session is cancelled.
//
//                        open: room, or enough     open: no room, too few    closed: enough    closed: too few
//   enqueue              puts                      waits                     cancelled         cancelled
//   dequeue, _many       takes                     waits                     takes             out_of_range
//   dequeue_up_to        takes                     waits                     takes             takes the rest
//
// dequeue_up_to of a closed queue without elements fails with out_of_range. A step that is given up, since it is
// cancelled, its time is up, or a task is lost, puts what it took back to the front, beyond the capacity if need be.
// Where the queue is another task's, that is a moment after the step's error, and a dequeue before then takes what
// follows. A step that fails because of a value, such as a wrong index, does not put it back. In a body (pn::cond,
// pn::while_loop) a queue is used that the task holds which runs the body. Between processes, give the queue a
// shared_name and a device: all of them build the same queue, and the task of that device holds it. TensorFlow:
// tf.QueueBase.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/control/functions.hpp>
#include <pinion/op/queue/op.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {
template <class...>
inline constexpr bool never = false;
// The compile-time error for a queue that is made in the middle of an expression.
template <class... Call>
constexpr void refuse_temporary_queue() {
  static_assert(
      never<Call...>,
      "a queue made as an operand could never be reached again: store it first, auto q = pn::fifo_queue(...)");
}

// The argument for one component, of dtype T: an expression, variable, host tensor or scalar. Refers to that argument,
// so it is valid during the call only. A host tensor or a number becomes a constant of the graph; a value that changes
// from step to step is a placeholder.
template <element T>
class component {
 public:
  template <class V>
  component(const V& value)
      : value_(&value), input_([](graph& g, const void* v, const std::string& name, source_location where) {
          return input_of<T>(g, *static_cast<const V*>(v), name, where);
        }) {}
  output in(graph& g, const std::string& name, source_location where) const { return input_(g, value_, name, where); }

 private:
  const void* value_;
  output (*input_)(graph&, const void*, const std::string&, source_location);
};
// A call with a wrong number of arguments would otherwise be refused without a reason.
template <std::size_t Wanted, class... V>
concept other_components = sizeof...(V) != Wanted && (!std::is_same_v<V, source_location> && ...);
template <class... V>
constexpr void refuse_component_count() {
  static_assert(never<V...>, "an element of the queue has another number of components");
}
}  // namespace dsl

namespace dsl {
// The components of a queue. `shapes` is empty or has one shape for each. Throws invalid_argument otherwise.
state::queue_components components_of(std::initializer_list<dtype> types, const std::vector<shape>& shapes);
// The shapes of a priority queue: that of the priority, then those given, or any() where none is given.
std::vector<shape> with_priority(const std::vector<shape>& shapes, std::size_t components);
}  // namespace dsl

// Options of close. Enqueues that wait are those for which there is no room yet.
struct close_options {
  bool cancel_pending_enqueues = false;  // true: enqueues that wait fail; false: close waits for them
};

// A handle of a queue in a graph, without the element type. A value; refers to a graph that must outlive it. The
// elements live in the task that runs the node, under the node's container and its shared name, or its name where that
// is empty. They outlive steps and sessions, as variables do. Thread-compatible, as its graph is; steps of several
// threads and clients may work on one queue.
//
// Two queues with one shared name are one queue: they must agree in kind, capacity, dtypes and shapes, and the step
// that meets the second one fails with invalid_argument otherwise. pn::session::reset clears a container, its queues
// included.
//
//   const pn::fifo_queue<float> q({.capacity = 100, .shapes = {{3}}, .name = "q"});
//   tr::queue_runner runner{q, {q.enqueue_many(rows)}};
//   runner.start(sess, coord);                            // a thread keeps it full
class any_queue {
 public:
  any_queue() = default;

  // The functions below throw invalid_argument for an empty handle, failed_precondition where the graph was destroyed.
  bool empty() const { return graph_.empty(); }  // true for a handle that names no queue
  graph& owner() const { return *graph_; }
  node_id id(const graph& in) const { return graph_.number_in(in, queue_, "what uses it"); }
  // An output without a value, which only ops on queues take.
  output handle(const graph& in) const { return {id(in), 0}; }
  const std::string& name() const;
  const std::string& op() const;
  const device_spec& requested_device() const;
  operator operation() const { return {*graph_, queue_}; }

  // The number of elements in the queue. Never waits. By the time the number is seen it may be out of date.
  expr<std::int32_t> size(source_location where = source_location::current()) const;
  // Tells whether the queue was closed. Never waits.
  expr<bool> is_closed(source_location where = source_location::current()) const;
  // Closes the queue: later enqueues fail with cancelled, and dequeues fail with out_of_range once too few elements are
  // left. Runs after the enqueues that wait for room; with cancel_pending_enqueues those fail instead. The step of a
  // second close fails with cancelled, unless that one cancels. A closed queue stays closed as long as its state lives;
  // session::reset makes way for a new one.
  //
  //   auto shut = q.close();
  //   sess.run(shut);                                       // consumers take the rest, and then meet the end
  operation close(const close_options& o = {}, source_location where = source_location::current()) const;

 protected:
  any_queue(graph& g, node_id queue) : graph_(g), queue_(queue) {}
  static node_id make_node_of(std::string_view op, const state::queue_components& components, attributes attrs,
                              const std::string& name, const std::string& shared_name, source_location where);

  // The graph in use. In the body of a cond or while_loop, the queue has a node of its own.
  graph& drawn() const { return *dsl::captured_in(*graph_, {queue_, 0}).of; }
  // The base name of a constant that is made for a component given to `what`.
  static std::string component_name(std::string_view what);
  // Makes a node that works on the queue, named QUEUE_what. Throws invalid_argument for an empty handle.
  node_id node_of(std::string_view op, std::string_view what, std::initializer_list<output> inputs, attributes attrs,
                  source_location where) const;

 private:
  graph_ref graph_;
  node_id queue_ = no_node;
};

// A handle of a queue whose elements have one tensor for each of T. An element must fit the shapes that the queue was
// made with. An op that waits, for room or for elements, occupies no thread and is served in order; it fails with
// cancelled when its step or session is cancelled. An argument of another dtype, or another number of them, does not
// compile. A shape known not to fit throws invalid_argument where the op is made, and any other fails the step with
// that code and the number of the component.
template <class... T>
requires(detail::are_elements<T...>(PINION_ELEMENT_TYPES)) class queue : public any_queue {
  static_assert(sizeof...(T) > 0, "a queue has elements of at least one component");

 public:
  queue() = default;

  // Puts one element, given by an expression, variable, host tensor or scalar for each component. Waits for room. Fails
  // with cancelled on a closed queue. A full queue makes the step wait, up to the session's operation_timeout
  // (deadline_exceeded), and the element is then not in the queue.
  //
  //   auto put = q.enqueue(x, 7);                           // of a queue<float, int>
  operation enqueue(const dsl::component<T>&... components, source_location where = source_location::current()) const& {
    return put<op::queue_enqueue>("enqueue", where, components...);
  }
  // Puts the slices of the tensors along their first axis as elements, each as soon as there is room for it. All
  // tensors have the same first extent. Elements put before a failure stay in the queue.
  //
  //   auto put = q.enqueue_many(images, labels);    // [n, 784], [n] -> n elements
  operation enqueue_many(const dsl::component<T>&... components,
                         source_location where = source_location::current()) const& {
    return put<op::queue_enqueue_many>("enqueue_many", where, components...);
  }
  template <class... V>
  requires dsl::other_components<sizeof...(T), V...> operation enqueue(const V&...)
  const& { return dsl::refuse_component_count<V...>(), operation(); }
  template <class... V>
  requires dsl::other_components<sizeof...(T), V...> operation enqueue_many(const V&...)
  const& { return dsl::refuse_component_count<V...>(), operation(); }
  // Takes one element: an expression, or a tuple of them where there are several components. Waits for an element. Each
  // run takes another element, whichever consumers it has; two dequeue() calls make two ops, and take two. Fails with
  // out_of_range on a closed queue that is empty: the end of the data, which train::coordinator takes for a clean stop.
  //
  //   auto [x, label] = q.dequeue();
  //   auto [a, b] = sess.run(x, label);                     // of one element: both come from one run of one op
  auto dequeue(source_location where = source_location::current()) const& {
    return yields(node_of(op::queue_dequeue::name, "dequeue", {}, {}, where));
  }
  // Takes n elements, stacked along a new first axis. Waits until all n have come, even where n is more than the
  // capacity. A closed queue that holds fewer keeps them, and the op fails with out_of_range. Needs known component
  // shapes, unless the queue is a padding queue. Throws invalid_argument for a negative n. Elements collected so far go
  // back, in order, where the op is cancelled or its time is up.
  //
  //   auto [images, labels] = q.dequeue_many(50);           // [50, 784], [50]
  auto dequeue_many(std::int64_t n, source_location where = source_location::current()) const& {
    return yields(node_of(op::queue_dequeue_many::name, "dequeue_many", {}, {{"n", n}}, where));
  }
  // Takes n elements as dequeue_many does, but a closed queue yields the elements left, if there are any. The first
  // extent of the result is unknown to the graph. It does not yield early while the queue is open: that waits for n. An
  // empty closed queue fails with out_of_range.
  auto dequeue_up_to(std::int64_t n, source_location where = source_location::current()) const& {
    return yields(node_of(op::queue_dequeue_up_to::name, "dequeue_up_to", {}, {{"n", n}}, where));
  }

  // These overloads refuse a temporary queue at compile time: nothing could reach it again.
  template <class... V>
  operation enqueue(const V&...) && {
    return dsl::refuse_temporary_queue<V...>(), operation();
  }
  template <class... V>
  operation enqueue_many(const V&...) && {
    return dsl::refuse_temporary_queue<V...>(), operation();
  }
  template <std::same_as<source_location> W = source_location>
  std::tuple<expr<T>...> dequeue(W = {}) && {
    return dsl::refuse_temporary_queue<W>(), std::tuple<expr<T>...>();
  }
  template <std::integral N>
  std::tuple<expr<T>...> dequeue_many(N, source_location = {}) && {
    return dsl::refuse_temporary_queue<N>(), std::tuple<expr<T>...>();
  }
  template <std::integral N>
  std::tuple<expr<T>...> dequeue_up_to(N, source_location = {}) && {
    return dsl::refuse_temporary_queue<N>(), std::tuple<expr<T>...>();
  }

 protected:
  queue(std::string_view op, state::queue_components components, attributes attrs, const std::string& name,
        const std::string& shared_name, source_location where)
      : any_queue(default_graph(), make_node_of(op, components, std::move(attrs), name, shared_name, where)) {}

  static state::queue_components components_of(const std::vector<shape>& shapes) {
    return dsl::components_of({dtype_of<T>...}, shapes);
  }

 private:
  template <class Op>
  operation put(std::string_view what, source_location where, const dsl::component<T>&... components) const {
    graph& g = drawn();
    const std::string name = component_name(what);
    return {g, node_of(Op::name, what, {components.in(g, name, where)...}, {}, where)};
  }
  auto yields(node_id id) const { return dsl::outputs_as<std::tuple<T...>>::of(drawn(), id); }
};

// Options of fifo_queue, padding_fifo_queue and priority_queue. The capacity bounds memory in the task that holds the
// queue. Component shapes let enqueues be checked, and batches be formed; name both, since a program that is restarted
// finds its queue again by name.
struct queue_options {
  std::int64_t capacity = -1;      // in elements; negative: no limit
  std::vector<shape> shapes = {};  // one for each component; empty: any shape, and no batches
  std::string name = {};           // of its node; empty: the kind's name
  std::string shared_name = {};    // name of its state; empty: the node's name
};

// A queue that yields its elements in the order in which they came. TensorFlow: tf.FIFOQueue. Made in the thread's
// default graph, on the device that guards ask for.
template <class... T>
requires(detail::are_elements<T...>(PINION_ELEMENT_TYPES)) class fifo_queue : public queue<T...> {
 public:
  explicit fifo_queue(const queue_options& o, source_location where = source_location::current())
      : queue<T...>(op::fifo_queue::name, queue<T...>::components_of(o.shapes), {{"capacity", o.capacity}},
                    o.name.empty() ? "fifo_queue" : o.name, o.shared_name, where) {}
};

// Options of random_shuffle_queue. min_after_dequeue is how well it shuffles: a dequeue waits until more elements than
// that are there, so that it always draws from so many. It is below the capacity, invalid_argument otherwise. A closed
// queue gives these elements up too.
struct random_shuffle_queue_options {
  std::int64_t capacity = -1;          // in elements; negative: no limit
  std::int64_t min_after_dequeue = 0;  // elements that stay while it is open, to draw from
  std::vector<shape> shapes = {};      // one for each component; empty: any shape, and no batches
  std::int64_t seed = 0;               // of the draws; 0: another one in each process
  std::string name = {};
  std::string shared_name = {};
};

// A queue that yields its elements in random order, each with the same probability. TensorFlow: tf.RandomShuffleQueue.
// With one seed and one order of steps, the order of elements repeats.
//
//   pn::random_shuffle_queue<float, int> q({.capacity = 60000, .min_after_dequeue = 10000, .shapes = {{784}, {}}});
template <class... T>
requires(detail::are_elements<T...>(PINION_ELEMENT_TYPES)) class random_shuffle_queue : public queue<T...> {
 public:
  explicit random_shuffle_queue(const random_shuffle_queue_options& o,
                                source_location where = source_location::current())
      : queue<T...>(op::random_shuffle_queue::name, queue<T...>::components_of(o.shapes),
                    {{"capacity", o.capacity}, {"min_after_dequeue", o.min_after_dequeue}, {"seed", o.seed}},
                    o.name.empty() ? "random_shuffle_queue" : o.name, o.shared_name, where) {}
};

// A queue that yields its elements in the order in which they came, and whose shapes may have unknown extents.
// dequeue_many pads each component with zeros to the largest extent in the batch. The rank of every component must be
// given: {.shapes = {{pn::unknown}}} holds vectors of any length. invalid_argument otherwise. TensorFlow:
// tf.PaddingFIFOQueue.
template <class... T>
requires(detail::are_elements<T...>(PINION_ELEMENT_TYPES)) class padding_fifo_queue : public queue<T...> {
 public:
  explicit padding_fifo_queue(const queue_options& o, source_location where = source_location::current())
      : queue<T...>(op::padding_fifo_queue::name, queue<T...>::components_of(o.shapes), {{"capacity", o.capacity}},
                    o.name.empty() ? "padding_fifo_queue" : o.name, o.shared_name, where) {}
};

// A queue that yields the element with the smallest priority first. The priority, int64, is an additional first
// component; `shapes` are those of T alone. Among equal priorities the older element comes first. enqueue and dequeue
// have the priority in front: for priority_queue<float>, q.enqueue(std::int64_t{3}, x), and auto [priority, y] =
// q.dequeue(). TensorFlow: tf.PriorityQueue.
template <class... T>
requires(detail::are_elements<T...>(PINION_ELEMENT_TYPES)) class priority_queue : public queue<std::int64_t, T...> {
 public:
  explicit priority_queue(const queue_options& o, source_location where = source_location::current())
      : queue<std::int64_t, T...>(op::priority_queue::name,
                                  queue<std::int64_t, T...>::components_of(dsl::with_priority(o.shapes, sizeof...(T))),
                                  {{"capacity", o.capacity}}, o.name.empty() ? "priority_queue" : o.name, o.shared_name,
                                  where) {}
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/queue/functions.ipp>
#endif
