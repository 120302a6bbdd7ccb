// Kernels of queues. A kernel that waits holds no thread: it ends when the queue calls back.
#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <pinion/op/queue/op.hpp>
#include <pinion/op/slice/cpu.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/state/queue.hpp>

namespace pinion { inline namespace v0 { namespace op {

template <class Self>
std::unique_ptr<kernel> make_kernel(const queue<Self>&, const kernel_setup& setup) {
  return make_function_kernel([state = state::find_queue(setup.services, setup.node)](kernel_context&) {});
}

namespace detail {

inline std::shared_ptr<state::queue> queue_of(const kernel_setup& setup) {
  return state::find_queue(setup.services, setup.referenced(0));
}

// Checks a component against its shape in the queue, which the shape function may not have known.
inline void expect_component(const state::queue& q, std::size_t i, const shape& given, const shape& wanted) {
  if (!fits(given, wanted))
    throw error(errc::invalid_argument, "component " + std::to_string(i) + " of " + q.about().kind + " '" + q.name() +
                                            "' has shape " + to_string(wanted) + ", not " + to_string(given));
}

inline state::queue_element element_of(const state::queue& q, std::span<const any_tensor> components) {
  for (std::size_t i = 0; i < components.size(); ++i)
    expect_component(q, i, components[i].shape(), q.about().components.shapes[i]);
  return {components.begin(), components.end()};
}

// Slice k along the first axis, in memory of its own, so that a waiting element does not keep its batch alive.
inline any_tensor slice_to_keep(const any_tensor& all, std::int64_t k) {
  any_tensor one(all.dtype(), shape(all.shape().dims().subspan(1)));
  visit_element(all.dtype(), [&]<class Element>() {
    std::copy_n(static_cast<const Element*>(all.raw()) + k * one.count(), one.count(),
                static_cast<Element*>(one.raw()));
  });
  return one;
}

// Elements have memory of their own, even those without a number in them, so a small tensor may hold too many.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 24;

inline std::vector<state::queue_element> elements_of(const state::queue& q, std::span<const any_tensor> components) {
  const std::int64_t n = components[0].shape().rank() == 0 ? 0 : components[0].shape()[0];
  for (std::size_t i = 0; i < components.size(); ++i) {
    expect_component(q, i, components[i].shape(), stacked(unknown, q.about().components.shapes[i]));
    if (components[i].shape().rank() == 0)
      throw error(errc::invalid_argument, "component " + std::to_string(i) + " of elements of " + q.about().kind +
                                              " '" + q.name() +
                                              "' is a scalar; elements are its slices along dimension 0");
    if (components[i].shape()[0] != n)
      throw error(errc::invalid_argument, "as many elements of each component are enqueued, not " + std::to_string(n) +
                                              " of component 0 and " + std::to_string(components[i].shape()[0]) +
                                              " of component " + std::to_string(i));
  }
  if (n > most_elements)
    throw error(errc::resource_exhausted, std::to_string(n) + " elements are enqueued at once in " + q.about().kind +
                                              " '" + q.name() + "', which takes at most " +
                                              std::to_string(most_elements) + "; enqueue them in several steps");
  std::vector<state::queue_element> all(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k)
    for (const any_tensor& c : components) all[static_cast<std::size_t>(k)].push_back(slice_to_keep(c, k));
  return all;
}

// The smallest shape that holds component i of each element.
inline shape common_extent(const std::vector<state::queue_element>& all, std::size_t i, const shape& declared) {
  if (all.empty()) {
    shape none = declared;
    for (int axis = 0; axis < none.rank(); ++axis) none.set(axis, std::max<std::int64_t>(0, none[axis]));
    return none;
  }
  shape most = all[0][i].shape();
  for (const state::queue_element& e : all)
    for (int axis = 0; axis < most.rank(); ++axis) most.set(axis, std::max(most[axis], e[i].shape()[axis]));
  return most;
}

// Component i of some elements, stacked; smaller ones are padded with zeros.
inline any_tensor batch_of(kernel_context& c, const state::queue_components& components,
                           const std::vector<state::queue_element>& all, std::size_t i) {
  const shape each = common_extent(all, i, components.shapes[i]);
  const shape whole = stacked(static_cast<std::int64_t>(all.size()), each);
  if (!countable(whole)) throw error(errc::resource_exhausted, "no memory holds a batch of shape " + to_string(whole));
  any_tensor batch(components.types[i], whole, c.device->memory());
  visit_element(batch.dtype(), [&]<class Element>() {
    Element* to = static_cast<Element*>(batch.raw());
    for (const state::queue_element& e : all) {
      if constexpr (std::is_trivial_v<Element>)
        if (!(e[i].shape() == each)) std::fill_n(to, each.count(), Element{});
      copy_box(box_copy{e[i].shape(), each, e[i].shape()}, static_cast<const Element*>(e[i].raw()), to, *c.services);
      to += each.count();
    }
  });
  return batch;
}

inline std::unique_ptr<kernel> make_batch_kernel(const kernel_setup& setup, bool up_to) {
  const auto n = static_cast<std::size_t>(setup.attrs().get<std::int64_t>("n"));
  return make_waiting_kernel([q = queue_of(setup), n, up_to](kernel_context& c, kernel::ended done) {
    q->take(n, up_to, c.cancellation, [q, &c, done](outcome<std::vector<state::queue_element>> taken) {
      done(std::move(taken).then([&](const std::vector<state::queue_element>& all) {
        for (std::size_t i = 0; i < c.outputs.size(); ++i) c.outputs[i] = batch_of(c, q->about().components, all, i);
      }));
    });
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(queue_enqueue, const kernel_setup& setup) {
  return make_waiting_kernel([q = detail::queue_of(setup)](kernel_context& c, kernel::ended done) {
    q->put({detail::element_of(*q, c.inputs.subspan(1))}, c.cancellation, std::move(done));
  });
}
inline std::unique_ptr<kernel> make_kernel(queue_enqueue_many, const kernel_setup& setup) {
  return make_waiting_kernel([q = detail::queue_of(setup)](kernel_context& c, kernel::ended done) {
    q->put(detail::elements_of(*q, c.inputs.subspan(1)), c.cancellation, std::move(done));
  });
}
inline std::unique_ptr<kernel> make_kernel(queue_dequeue, const kernel_setup& setup) {
  return make_waiting_kernel([q = detail::queue_of(setup)](kernel_context& c, kernel::ended done) {
    q->take(1, false, c.cancellation, [&c, done](outcome<std::vector<state::queue_element>> taken) {
      done(std::move(taken).then([&](std::vector<state::queue_element> one) {
        for (std::size_t i = 0; i < c.outputs.size(); ++i) c.outputs[i] = std::move(one[0][i]);
      }));
    });
  });
}
inline std::unique_ptr<kernel> make_kernel(queue_dequeue_many, const kernel_setup& setup) {
  return detail::make_batch_kernel(setup, false);
}
inline std::unique_ptr<kernel> make_kernel(queue_dequeue_up_to, const kernel_setup& setup) {
  return detail::make_batch_kernel(setup, true);
}
inline std::unique_ptr<kernel> make_kernel(queue_size, const kernel_setup& setup) {
  return make_function_kernel([q = detail::queue_of(setup)](kernel_context& c) {
    *c.allocate(0, dtype::int32, {}).data<std::int32_t>() = static_cast<std::int32_t>(q->size());
  });
}
inline std::unique_ptr<kernel> make_kernel(queue_is_closed, const kernel_setup& setup) {
  return make_function_kernel([q = detail::queue_of(setup)](kernel_context& c) {
    *c.allocate(0, dtype::boolean, {}).data<bool>() = q->closed();
  });
}
inline std::unique_ptr<kernel> make_kernel(queue_close, const kernel_setup& setup) {
  const bool cancel = setup.attrs().get_or("cancel_pending_enqueues", false);
  return make_waiting_kernel([q = detail::queue_of(setup), cancel](kernel_context& c, kernel::ended done) {
    q->close(cancel, c.cancellation, std::move(done));
  });
}

}}}  // namespace pinion::v0::op
