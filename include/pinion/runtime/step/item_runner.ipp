// Bodies of <pinion/runtime/step/item_runner.hpp>.
#pragma once

#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/runtime/step/item_runner.hpp>
#include <pinion/runtime/step/node_event.hpp>
#include <pinion/tensor/lent.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void item_runner::prepare_memory() {
  if (m_.readers.size() != e_.readers.size() || m_.pending.size() != e_.items.size()) {
    m_.arguments.resize(static_cast<std::size_t>(e_.inputs));
    m_.pending = std::vector<std::atomic<int>>(e_.items.size());
    m_.readers = std::vector<std::atomic<int>>(e_.readers.size());
  }
  for (std::size_t s = 0; s < m_.readers.size(); ++s) m_.readers[s].store(e_.readers[s], std::memory_order_relaxed);
}

PINION_DECL std::span<any_tensor> item_runner::take_inputs(const executable::item& it) {
  any_tensor* const first = m_.arguments.data() + it.first_input;
  any_tensor* to = first;
  for (const auto& in : it.inputs) {
    const auto s = static_cast<std::size_t>(in.slot);
    if (e_.readers[s] == 1) {
      *to++ = std::move(m_.slots[s]);
      continue;
    }
    // Copied first, since another reader may hold the slot until it has decremented its count.
    *to++ = m_.slots[s];
    if (m_.readers[s].fetch_sub(1, std::memory_order_acq_rel) == 1) m_.slots[s] = {};
  }
  return {first, to};
}

PINION_DECL void item_runner::drop(std::span<any_tensor> inputs) {
  for (auto& in : inputs)
    if (in) in = {};
}

PINION_DECL kernel_context item_runner::context() {
  kernel_context c;
  c.device = e_.device;
  c.watch = &step_;
  c.services = &services_;
  c.rendezvous = step_.rendezvous;
  c.cancellation = &step_.cancellation;
  c.step = step_.step;
  c.tracer = step_.tracer;
  return c;
}

PINION_DECL void item_runner::point(kernel_context& c, const executable::item& it, std::span<any_tensor> inputs) {
  c.node = it.node;
  if (it.copies_lent)
    for (any_tensor& in : inputs) in = kept(std::move(in), e_.device->memory());
  c.inputs = inputs;
  c.outputs = {m_.slots.data() + it.first_output, static_cast<std::size_t>(it.outputs)};
  c.wanted = it.wanted;
}

PINION_DECL void item_runner::run_item(const executable::item& it, kernel_context& c, std::span<any_tensor> inputs) {
  try {
    switch (it.kind) {
      case part_item::feed:
        // Each feed has one item, so its value can be moved out; the last reader then has the only reference.
        m_.slots[static_cast<std::size_t>(it.first_output)] =
            std::move(step_.feeds[static_cast<std::size_t>(it.index)]);
        if (lives_) note_life(it);
        break;
      case part_item::fetch:
        step_.fetches[static_cast<std::size_t>(it.index)] = std::move(inputs[0]);
        if (lives_) note_life(it);
        break;
      default:
        std::optional<cancellable_work> until_failed;
        if (it.may_stop) until_failed.emplace(step_.cancellation);
        point(c, it, inputs);
        if (step_.tracer)
          run_traced(it, c);
        else
          it.kernel->run(c);
        drop_unwanted(it);
    }
  } catch (...) {
    blame(it, current_error());
  }
}

PINION_DECL void item_runner::run_traced(const executable::item& it, kernel_context& c) {
  if (it.is_segment) {
    const trace_moment from = step_.tracer->moment_of(*e_.device);
    it.kernel->run(c);  // which traces each of its nodes
    return lives_->note(it, m_.slots, from, step_.tracer->moment_of(*e_.device));
  }
  traced_item time = begin_trace(it, c.inputs);
  try {
    it.kernel->run(c);
  } catch (...) {
    time.end(0, detail::how_it_failed(step_));
    throw;
  }
  const trace_moment until = time.end(detail::bytes_of(c.outputs));
  lives_->note(it, m_.slots, time.began(), until);
}

PINION_DECL void item_runner::note_life(const executable::item& it) {
  const trace_moment now = step_.tracer->moment_of(*e_.device);
  lives_->note(it, m_.slots, now, now);
}

PINION_DECL traced_item item_runner::begin_trace(const executable::item& it, std::span<const any_tensor> inputs) const {
  const bool moves = it.kind == part_item::send || it.kind == part_item::receive;
  trace_event e = moves ? detail::event_of(*it.node, *e_.device) : detail::event_of(*it.node, *e_.device, inputs);
  e.key = it.key.text();
  if (it.kind == part_item::receive) e.kind = trace_event::receive;
  if (it.kind == part_item::send) {
    e.kind = trace_event::send;
    e.bytes = detail::bytes_of(inputs);
  }
  return {*step_.tracer, *e_.device, std::move(e)};
}

namespace detail {

// The error of a kernel, or that of its GPU: once a GPU is lost, CUDA refuses launches before anybody else notices.
inline error lost_or(error e, devices::device& on) {
  if (on.kernels() != devices::kernel_code::cuda || (e.code() != errc::internal && e.code() != errc::unknown)) return e;
  const auto ended = outcome_of([&] { on.stream()->synchronize(); });
  return ended ? e : error(*ended.failure()).at_node(e.node(), e.op(), e.location());
}

}  // namespace detail

PINION_DECL void item_runner::blame(const executable::item& it, error e) {
  const auto blamed = outcome_of([&] {
    const node& n = *it.node;
    e = detail::lost_or(std::move(e), *e_.device);
    step_.fail(e.at_node(n.name, n.op, to_string(n.where)).on_device(e_.device->name()));
  });
  if (!blamed) step_.fail(*blamed.failure());
}

PINION_DECL void item_runner::drop_unwanted(const executable::item& it) {
  for (int o = 0; o < it.outputs; ++o)
    if (!it.wanted[static_cast<std::size_t>(o)]) m_.slots[static_cast<std::size_t>(it.first_output + o)] = {};
}

PINION_DECL void item_runner::tell_lives() {
  if (lives_) lives_->tell();
}

PINION_DECL void item_runner::clear() {
  for (auto& slot : m_.slots)
    if (slot) slot = {};
}

}}}  // namespace pinion::v0::runtime
