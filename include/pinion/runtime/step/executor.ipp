// Bodies of <pinion/runtime/step/executor.hpp>.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <pinion/runtime/step/executor.hpp>
#include <pinion/runtime/step/node_event.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

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

}}}  // namespace pinion::v0::runtime
