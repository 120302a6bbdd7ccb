// Bodies of <pinion/op/queue/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/queue/op.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void infer_queue(shape_context& c) {
  const state::queue_components all = state::components_of(c.attrs());
  if (all.size() == 0) c.fail("a queue needs the dtype and the shape of at least one component");
  for (const shape& s : all.shapes)
    if (s.has_rank() && s.rank() == shape::max_rank)
      c.fail("a component of shape " + to_string(s) + " has too many dimensions to be put together to batches");
  c.handle();
}

PINION_DECL state::queue_components queue_at_input(const shape_context& c) {
  c.expect_handle(0, "a queue");
  const state::queue_components all = state::components_of(c.maker(0).attrs);
  if (all.size() == 0) c.fail("its input is a " + c.maker(0).op + ", not a queue");
  return all;
}

PINION_DECL void expect_components(const shape_context& c, const state::queue_components& all) {
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

PINION_DECL shape stacked(std::int64_t n, const shape& s) {
  if (!s.has_rank()) return shape::any();
  shape y{n};
  for (const std::int64_t extent : s.dims()) y.push_back(extent);
  return y;
}

PINION_DECL void infer_batch(shape_context& c, std::int64_t n) {
  const state::queue_components all = queue_at_input(c);
  const bool pads = c.maker(0).op == padding_fifo_queue::name;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all.shapes[i].known() && !pads)
      c.fail("several elements at once need components of known shapes; the queue has " + to_string(all));
    c.output(all.types[i], stacked(n, all.shapes[i]));
  }
}

PINION_DECL std::int64_t expect_count(const shape_context& c) {
  const auto n = c.attrs().get<std::int64_t>("n");
  if (n < 0) c.fail(std::to_string(n) + " elements cannot be dequeued");
  return n;
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void random_shuffle_queue::infer(shape_context& c) {
  const auto capacity = c.attrs().get<std::int64_t>("capacity"),
             least = c.attrs().get<std::int64_t>("min_after_dequeue");
  if (least < 0 || (capacity >= 0 && least >= capacity))
    c.fail("min_after_dequeue is " + std::to_string(least) + "; it is at least 0 and below the capacity, " +
           std::to_string(capacity));
  detail::infer_queue(c);
}

PINION_DECL void padding_fifo_queue::infer(shape_context& c) {
  const state::queue_components all = state::components_of(c.attrs());
  for (const shape& s : all.shapes)
    if (!s.has_rank()) c.fail("a padding queue needs the rank of every component; it has " + to_string(all));
  detail::infer_queue(c);
}

PINION_DECL void priority_queue::infer(shape_context& c) {
  const state::queue_components all = state::components_of(c.attrs());
  if (all.size() == 0 || all.types[0] != dtype::int64 || !(all.shapes[0] == shape{}))
    c.fail("the first component of a priority queue is its priority, one int64, not " + to_string(all));
  detail::infer_queue(c);
}

PINION_DECL void queue_enqueue::infer(shape_context& c) {
  const state::queue_components all = detail::queue_at_input(c);
  detail::expect_components(c, all);
  for (int i = 1; i < c.inputs(); ++i)
    if (const shape& wanted = all.shapes[static_cast<std::size_t>(i - 1)]; !fits(c.shape(i), wanted))
      c.fail("component " + std::to_string(i - 1) + " of the queue has shape " + to_string(wanted) + ", not " +
             to_string(c.shape(i)));
}

PINION_DECL void queue_enqueue_many::infer(shape_context& c) {
  const state::queue_components all = detail::queue_at_input(c);
  detail::expect_components(c, all);
  for (int i = 1; i < c.inputs(); ++i) {
    const shape wanted = detail::stacked(unknown, all.shapes[static_cast<std::size_t>(i - 1)]);
    if (!fits(c.shape(i), wanted) || (c.shape(i).has_rank() && c.shape(i).rank() == 0))
      c.fail("elements of the queue stacked along a first dimension have shape " + to_string(wanted) + ", not " +
             to_string(c.shape(i)));
  }
}

PINION_DECL void queue_dequeue::infer(shape_context& c) {
  const state::queue_components all = detail::queue_at_input(c);
  for (std::size_t i = 0; i < all.size(); ++i) c.output(all.types[i], all.shapes[i]);
}

PINION_DECL void queue_dequeue_many::infer(shape_context& c) {
  detail::infer_batch(c, detail::expect_count(c));
}

PINION_DECL void queue_dequeue_up_to::infer(shape_context& c) {
  detail::expect_count(c);
  detail::infer_batch(c, unknown);
}

PINION_DECL void queue_size::infer(shape_context& c) {
  detail::queue_at_input(c);
  c.output(dtype::int32, {});
}

PINION_DECL void queue_is_closed::infer(shape_context& c) {
  detail::queue_at_input(c);
  c.output(dtype::boolean, {});
}

PINION_DECL void queue_close::infer(shape_context& c) {
  detail::queue_at_input(c);
}

}}}  // namespace pinion::v0::op
