// Bodies of <pinion/runtime/step/executor.hpp>.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/runtime/step/executor.hpp>
#include <pinion/runtime/step/node_event.hpp>
#include <pinion/tensor/lent.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void executor::run_in_order() {
  kernel_context c = context();
  // A run like one that had no use for planned memory takes what it needs after all from the device.
  if (!e_.device->stream() && !m_.only_bound) c.memory = &m_.values.begin(step_.feeds, e_.device->memory());
  m_.only_bound = !step_.tracer;
  const int all = static_cast<int>(e_.items.size());
  const node* last = nullptr;
  for (int i = 0; i < all;) {
    step_.check_deadline(last);
    if (step_.failed()) break;
    const auto& it = e_.items[static_cast<std::size_t>(i)];
    last = it.node;
    if (const int end = it.may_bind && !step_.tracer ? run_bound(i) : i; end > i) {
      i = end;
      continue;
    }
    m_.only_bound &= it.kind != part_item::compute;
    run_alone(it, c);
    ++i;
  }
  if (step_.failed()) clear();  // else the last readers have taken all values
  tell_lives();
  if (c.memory) m_.values.end(step_.failed());
}

PINION_DECL void executor::run_alone(const executable::item& it, kernel_context& c) {
  for (const auto& in : it.inputs) {
    auto& slot = m_.slots[static_cast<std::size_t>(in.slot)];
    if (in.last_in_order)
      m_.inputs.push_back(std::move(slot));
    else
      m_.inputs.push_back(slot);
  }
  run_item(it, c, m_.inputs);
  m_.inputs.clear();
}

PINION_DECL int executor::run_bound(int first) {
  bound_sequence* const sequence = bound_from(first);
  if (!sequence || sequence->end() == first) return first;
  try {
    sequence->run(m_.slots, &step_);
  } catch (...) {
    step_.fail(current_error());
  }
  return sequence->end();
}

PINION_DECL bound_sequence* executor::bound_from(int first) {
  if (m_.bound.empty()) m_.bound.resize(e_.items.size());
  auto& known = m_.bound[static_cast<std::size_t>(first)];
  for (const auto& one : known)
    if (one->is_of(m_.slots)) return one.get();
  if (known.size() == most_bound) return nullptr;
  return known.emplace_back(std::make_unique<bound_sequence>(e_, first, m_.slots)).get();
}

PINION_DECL void executor::start(finished done) {
  done_ = std::move(done);
  const auto prepared = outcome_of([this] { prepare(); });
  if (!prepared) step_.fail(*prepared.failure());
  if (!prepared || e_.items.empty()) return finish();
  ready_items ready(m_.links);
  for (std::size_t i = 0; i < e_.items.size(); ++i)
    if (e_.items[i].predecessors == 0) push(ready, static_cast<int>(i));
  const auto self = shared_from_this();
  process(ready);
}

PINION_DECL void executor::prepare() {
  prepare_memory();
  if (m_.links.empty()) m_.links.resize(e_.items.size());
  remaining_.store(static_cast<int>(e_.items.size()), std::memory_order_relaxed);
  for (std::size_t i = 0; i < e_.items.size(); ++i)
    m_.pending[i].store(e_.items[i].predecessors, std::memory_order_relaxed);
  if (!e_.device->stream()) m_.values.begin_in_any_order(step_.feeds, e_.device->memory());
  step_.add_part(*this);
}

PINION_DECL void executor::list_under_way(std::vector<std::string>& names, std::size_t most) const {
  for (std::size_t i = 0; i < e_.items.size() && names.size() < most; ++i) {
    const executable_item& it = e_.items[i];
    if (!it.node || m_.pending[i].load(std::memory_order_relaxed) != 0) continue;
    std::string name = (it.kind == part_item::receive ? "the wait for " : "") + running_node(*it.node);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
}

PINION_DECL void executor::prepare_memory() {
  if (m_.readers.size() != e_.readers.size() || m_.pending.size() != e_.items.size()) {
    m_.arguments.resize(static_cast<std::size_t>(e_.inputs));
    m_.pending = std::vector<std::atomic<int>>(e_.items.size());
    m_.readers = std::vector<std::atomic<int>>(e_.readers.size());
  }
  for (std::size_t s = 0; s < m_.readers.size(); ++s) m_.readers[s].store(e_.readers[s], std::memory_order_relaxed);
}

PINION_DECL void executor::process(ready_items ready) {
  if (ready.empty()) return;  // the run may be over, and what it refers to may be gone
  inline_run* const here = inline_run::of_this_thread();
  kernel_context c = context();
  for (int ran = 0; !ready.empty(); ++ran) {
    if (here && (ran == most_inline || !e_.items[static_cast<std::size_t>(ready.top())].brief) && put_by(*here, ready))
      return;
    const int i = ready.pop();
    if (e_.items[static_cast<std::size_t>(i)].kind != part_item::send) share_expensive(ready);  // a send takes no time
    begin(i, c, ready);
  }
}

PINION_DECL bool executor::put_by(inline_run& here, const ready_items& ready) {
  const auto put = outcome_of([&] { here.put_by([self = shared_from_this(), ready] { self->process(ready); }); });
  if (!put) step_.fail(*put.failure());  // what is ready is not computed then, and takes no time
  return put.ok();
}

PINION_DECL void executor::push(ready_items& ready, int i) const {
  ready.push(i, e_.items[static_cast<std::size_t>(i)].expensive());
}

PINION_DECL void executor::share_expensive(ready_items& ready) {
  if (!pool_ || pool_->threads() == 0) return;
  while (ready.has_expensive()) {
    const int other = ready.pop_expensive();
    const auto run_one = [self = shared_from_this(), other] {
      ready_items one(self->m_.links);
      self->push(one, other);
      self->process(one);
    };
    if (outcome_of([&] { pool_->schedule(run_one, step_.line); })) continue;
    return push(ready, other);  // this thread does it then
  }
}

PINION_DECL void executor::begin(int i, kernel_context& c, ready_items& ready) {
  step_.check_deadline();
  const auto& it = e_.items[static_cast<std::size_t>(i)];
  if (!step_.failed() && it.blocking) try {
      return wait(i);
    } catch (...) {
      blame(it, current_error());
    }
  if (!step_.failed()) {
    const auto inputs = take_inputs(it);
    item_memory own(m_.values, i);
    if (!e_.device->stream()) c.memory = &own;
    run_item(it, c, inputs);
    drop(inputs);
  }
  complete(i, ready);
}

PINION_DECL std::span<any_tensor> executor::take_inputs(const executable::item& it) {
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

PINION_DECL void executor::drop(std::span<any_tensor> inputs) {
  for (auto& in : inputs)
    if (in) in = {};
}

PINION_DECL kernel_context executor::context() {
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

PINION_DECL void executor::point(kernel_context& c, const executable::item& it, std::span<any_tensor> inputs) {
  c.node = it.node;
  if (it.copies_lent)
    for (any_tensor& in : inputs) in = kept(std::move(in), e_.device->memory());
  c.inputs = inputs;
  c.outputs = {m_.slots.data() + it.first_output, static_cast<std::size_t>(it.outputs)};
  c.wanted = it.wanted;
}

PINION_DECL void executor::run_item(const executable::item& it, kernel_context& c, std::span<any_tensor> inputs) {
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

PINION_DECL void executor::run_traced(const executable::item& it, kernel_context& c) {
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

PINION_DECL void executor::note_life(const executable::item& it) {
  const trace_moment now = step_.tracer->moment_of(*e_.device);
  lives_->note(it, m_.slots, now, now);
}

PINION_DECL traced_item executor::begin_trace(const executable::item& it, std::span<const any_tensor> inputs) const {
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

PINION_DECL void executor::blame(const executable::item& it, error e) {
  const auto blamed = outcome_of([&] {
    const node& n = *it.node;
    e = detail::lost_or(std::move(e), *e_.device);
    step_.fail(e.at_node(n.name, n.op, to_string(n.where)).on_device(e_.device->name()));
  });
  if (!blamed) step_.fail(*blamed.failure());
}

PINION_DECL void executor::wait(int i) {
  struct waiting {
    std::span<any_tensor> inputs;
    kernel_context context;
    std::optional<traced_item> time;
    std::atomic<bool> ended{false};
  };
  const auto& it = e_.items[static_cast<std::size_t>(i)];
  auto held = std::make_shared<waiting>();
  held->inputs = take_inputs(it);
  held->context = context();
  point(held->context, it, held->inputs);
  if (step_.tracer) held->time = begin_trace(it, held->inputs);
  const auto ended = [self = shared_from_this(), i, held](const outcome<>& how) {
    if (held->ended.exchange(true, std::memory_order_acq_rel)) return;
    if (held->time) self->end_trace(self->e_.items[static_cast<std::size_t>(i)], *held->time, held->context, how.ok());
    if (how)
      self->drop_unwanted(self->e_.items[static_cast<std::size_t>(i)]);
    else
      self->blame(self->e_.items[static_cast<std::size_t>(i)], *how.failure());
    drop(held->inputs);
    self->resume(i);
  };
  try {
    it.kernel->start(held->context, ended);
  } catch (...) {
    ended(current_error());
  }
}

PINION_DECL void executor::end_trace(const executable::item& it, traced_item& time, const kernel_context& c,
                                     bool well) {
  if (!well) return void(time.end(0, detail::how_it_failed(step_)));
  const trace_moment now = time.end(detail::bytes_of(c.outputs));
  lives_->note(it, m_.slots, now, now);
}

PINION_DECL void executor::drop_unwanted(const executable::item& it) {
  for (int o = 0; o < it.outputs; ++o)
    if (!it.wanted[static_cast<std::size_t>(o)]) m_.slots[static_cast<std::size_t>(it.first_output + o)] = {};
}

PINION_DECL void executor::resume(int i) {
  thread_local int depth = 0;
  thread_local std::vector<std::pair<std::shared_ptr<executor>, int>> late;
  if (depth == deepest) return late.emplace_back(shared_from_this(), i), void();
  struct deeper {
    deeper() { ++depth; }
    ~deeper() { --depth; }
  } const here;
  go_on_behind(i);
  while (depth == 1 && !late.empty()) {
    const auto [other, item] = std::move(late.back());
    late.pop_back();
    other->go_on_behind(item);
  }
}

PINION_DECL void executor::go_on_behind(int i) {
  ready_items ready(m_.links);
  complete(i, ready);
  process(ready);
}

PINION_DECL void executor::complete(int i, ready_items& ready) {
  m_.pending[static_cast<std::size_t>(i)].store(-1, std::memory_order_relaxed);
  for (int next : e_.items[static_cast<std::size_t>(i)].successors)
    if (m_.pending[static_cast<std::size_t>(next)].fetch_sub(1, std::memory_order_acq_rel) == 1) push(ready, next);
  if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) finish();
}

PINION_DECL void executor::finish() {
  auto* const stream = e_.device->stream();
  if (!stream) return close();
  const auto ended = [self = shared_from_this()](const outcome<>& how) {
    if (!how) self->step_.fail(error(*how.failure()).on_device(self->e_.device->name()));
    self->close();
  };
  if (auto wrong = step_.take_wrong_values(*e_.device)) try {
      return wrong->look(*e_.device, ended);
    } catch (...) {
      step_.fail(current_error().on_device(e_.device->name()));
    }
  stream->when_reached(ended);
}

PINION_DECL void executor::close() {
  step_.remove_part(*this);
  clear();
  tell_lives();
  if (!e_.device->stream()) m_.values.end(step_.failed());
  auto done = std::move(done_);
  if (done) done();
}

PINION_DECL void executor::tell_lives() {
  if (lives_) lives_->tell();
}

PINION_DECL void executor::clear() {
  for (auto& slot : m_.slots)
    if (slot) slot = {};
}

}}}  // namespace pinion::v0::runtime
