// Queues in a graph: elements that one step puts and another takes, in the task that holds the queue.
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
#include <pinion/op/control/spelling.hpp>
#include <pinion/op/queue/op.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {
template <class...>
inline constexpr bool never = false;
// What the compiler says of a queue that is made in the middle of an expression.
template <class... Call>
constexpr void refuse_temporary_queue() {
  static_assert(
      never<Call...>,
      "a queue made as an operand could never be reached again: store it first, auto q = pn::fifo_queue(...)");
}

// An argument for a component of dtype T: an expression, variable, host tensor or scalar. Refers to it during a call.
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
template <std::size_t Wanted, class... V>
concept other_components = sizeof...(V) != Wanted && (!std::is_same_v<V, source_location> && ...);
template <class... V>
constexpr void refuse_component_count() {
  static_assert(never<V...>, "an element of the queue has another number of components");
}
}  // namespace dsl

namespace dsl {
// The components of a queue, with shapes given for all or for none.
op::queue_components components_of(std::initializer_list<dtype> types, const std::vector<shape>& shapes);
// Shapes given for all components but the priority, or for none.
std::vector<shape> with_priority(const std::vector<shape>& shapes, std::size_t components);
}  // namespace dsl

struct close_options {
  bool cancel_pending_enqueues = false;  // otherwise those who wait to put something are waited for
};

// A queue in a graph, whatever its elements. A value; the elements live in the task that runs the node, under its
// container and shared name or name, and outlive steps and sessions as variables do.
class any_queue {
 public:
  any_queue() = default;

  bool empty() const { return graph_.empty(); }  // names no queue
  graph& owner() const { return *graph_; }
  node_id id() const { return queue_; }
  output handle() const { return {queue_, 0}; }
  const std::string& name() const;
  const std::string& op() const;
  const device_spec& requested_device() const;
  operator operation() const { return {*graph_, queue_}; }

  // How many elements are in it; never waits.
  expr<std::int32_t> size(source_location where = source_location::current()) const;
  // Never waits.
  expr<bool> is_closed(source_location where = source_location::current()) const;
  // No more elements are taken in: enqueues fail with cancelled, dequeues with out_of_range once there are too few
  // elements left. It waits behind the enqueues that wait; with cancel_pending_enqueues they fail instead.
  operation close(const close_options& o = {}, source_location where = source_location::current()) const;

 protected:
  any_queue(graph& g, node_id queue) : graph_(g), queue_(queue) {}
  static node_id make_node_of(std::string_view op, const op::queue_components& components, attributes attrs,
                              const std::string& name, const std::string& shared_name, source_location where);

  // In the graph in use: the body of a choice or loop names the queue again.
  graph& drawn() const { return *dsl::drawn_in(*graph_, handle()).of; }
  // Under which a constant is made of a component that is given to `what`.
  static std::string component_name(std::string_view what);
  // A node that works on the queue, called after it and `what` is done.
  node_id node_of(std::string_view op, std::string_view what, std::initializer_list<output> inputs, attributes attrs,
                  source_location where) const;

 private:
  graph_ref graph_;
  node_id queue_ = no_node;
};

// A queue of elements of one tensor each of T. What is put must fit the shapes it was made with; whoever waits, for
// room or for elements, holds no thread, keeps its turn, and is cancelled with its step or session (errors: cancelled).
template <class... T>
requires(detail::are_elements<T...>(PINION_ELEMENT_TYPES)) class queue : public any_queue {
  static_assert(sizeof...(T) > 0, "a queue has elements of at least one component");

 public:
  queue() = default;

  // Puts one element: an expression, variable, host tensor or scalar for each component. Waits for room.
  operation enqueue(const dsl::component<T>&... components, source_location where = source_location::current()) const& {
    return put<op::queue_enqueue>("enqueue", where, components...);
  }
  // Puts the slices of tensors along their first dimension, as room appears; not all at once.
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
  // Takes an element: an expression, or a tuple of them. Waits for one.
  auto dequeue(source_location where = source_location::current()) const& {
    return yields(node_of(op::queue_dequeue::name, "dequeue", {}, {}, where));
  }
  // Takes n elements, stacked along a new first dimension. Waits until it has so many, even more than the capacity;
  // a closed queue with fewer keeps them: out_of_range. Needs known shapes, or a padding queue.
  auto dequeue_many(std::int64_t n, source_location where = source_location::current()) const& {
    return yields(node_of(op::queue_dequeue_many::name, "dequeue_many", {}, {{"n", n}}, where));
  }
  // The same, but of a closed queue what is left, if that is anything.
  auto dequeue_up_to(std::int64_t n, source_location where = source_location::current()) const& {
    return yields(node_of(op::queue_dequeue_up_to::name, "dequeue_up_to", {}, {{"n", n}}, where));
  }

  // A queue made in the middle of an expression could never be reached again.
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
  queue(std::string_view op, op::queue_components components, attributes attrs, const std::string& name,
        const std::string& shared_name, source_location where)
      : any_queue(default_graph(), make_node_of(op, components, std::move(attrs), name, shared_name, where)) {}

  static op::queue_components components_of(const std::vector<shape>& shapes) {
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

struct queue_options {
  std::int64_t capacity = -1;      // elements; negative: any number
  std::vector<shape> shapes = {};  // of the components; empty: any, and no batches are taken
  std::string name = {};           // of its node; empty: that of its kind
  std::string shared_name = {};    // under which it lives; "" means its own name
};

// First in, first out.
template <class... T>
requires(detail::are_elements<T...>(PINION_ELEMENT_TYPES)) class fifo_queue : public queue<T...> {
 public:
  explicit fifo_queue(const queue_options& o, source_location where = source_location::current())
      : queue<T...>(op::fifo_queue::name, queue<T...>::components_of(o.shapes), {{"capacity", o.capacity}},
                    o.name.empty() ? "fifo_queue" : o.name, o.shared_name, where) {}
};

struct random_shuffle_queue_options {
  std::int64_t capacity = -1;          // elements; negative: any number
  std::int64_t min_after_dequeue = 0;  // elements that stay while it is open, so that there is something to draw from
  std::vector<shape> shapes = {};      // of the components; empty: any, and no batches are taken
  std::int64_t seed = 0;               // of the draws; 0: others in each process
  std::string name = {};
  std::string shared_name = {};
};

// Yields any of its elements, each as likely as the others.
template <class... T>
requires(detail::are_elements<T...>(PINION_ELEMENT_TYPES)) class random_shuffle_queue : public queue<T...> {
 public:
  explicit random_shuffle_queue(const random_shuffle_queue_options& o,
                                source_location where = source_location::current())
      : queue<T...>(op::random_shuffle_queue::name, queue<T...>::components_of(o.shapes),
                    {{"capacity", o.capacity}, {"min_after_dequeue", o.min_after_dequeue}, {"seed", o.seed}},
                    o.name.empty() ? "random_shuffle_queue" : o.name, o.shared_name, where) {}
};

// First in, first out; dimensions of its shapes may be unknown: components of a batch are filled up with zeros to the
// largest of them.
template <class... T>
requires(detail::are_elements<T...>(PINION_ELEMENT_TYPES)) class padding_fifo_queue : public queue<T...> {
 public:
  explicit padding_fifo_queue(const queue_options& o, source_location where = source_location::current())
      : queue<T...>(op::padding_fifo_queue::name, queue<T...>::components_of(o.shapes), {{"capacity", o.capacity}},
                    o.name.empty() ? "padding_fifo_queue" : o.name, o.shared_name, where) {}
};

// Smallest first: its elements have a priority, int64, as an additional first component. `shapes` are those of T.
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
#include <pinion/op/queue/spelling.ipp>
#endif
