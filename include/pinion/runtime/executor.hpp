// Runs one executable once: items in order in the calling thread, or by counting dependencies over a pool.
//
// Invariants
//   1. An item runs when all its predecessors are done; of the ready ones the lowest runs first, so that updates, which
//      come last in a graph, find variables that nobody reads any more.
//   2. After the first failure no kernel is started; what waits is woken by the step's rendezvous; the run ends when
//      every item is accounted for.
//   3. `done` is called exactly once, after which the run touches nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/runtime/executable.hpp>
#include <pinion/runtime/step_tracer.hpp>

namespace pinion::inline v0::runtime {

// What the runs of one step share. The first failure wins and stops the others.
class step_state final : public step_watch {
 public:
  explicit step_state(pinion::rendezvous& meet, std::int64_t number) : rendezvous(&meet), step(number) {}

  pinion::rendezvous* rendezvous;
  pinion::cancellation cancellation;
  std::int64_t step;
  std::vector<any_tensor> feeds, fetches;
  step_tracer* tracer = nullptr;  // of a run that is written down

  // The time by which it must have ended, if there is one.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  void check_deadline() {
    if (deadline && std::chrono::steady_clock::now() > *deadline) fail(too_late());
  }
  std::optional<std::chrono::steady_clock::time_point> time_limit() const override { return deadline; }
  static error too_late() {
    return error(errc::deadline_exceeded, "the step did not end within the session's operation_timeout");
  }

  bool failed() const override { return failed_.load(std::memory_order_acquire); }
  void fail(const error& why) override {
    {
      std::lock_guard hold(mutex_);
      if (failure_) return;
      failure_ = why;
      failed_.store(true, std::memory_order_release);
    }
    rendezvous->abort(why);
    cancellation.cancel();
  }
  std::optional<error> failure() const {
    std::lock_guard hold(mutex_);
    return failure_;
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> failed_{false};
  std::optional<error> failure_;
};

// The mutable half of a run; kept and used again by the step it belongs to.
struct run_memory {
  std::vector<any_tensor> slots;
  std::vector<std::atomic<int>> pending, readers;
  explicit run_memory(const executable& e)
      : slots(static_cast<std::size_t>(e.slots)), pending(e.items.size()), readers(static_cast<std::size_t>(e.slots)) {}
};

class executor : public std::enable_shared_from_this<executor> {
 public:
  using finished = std::function<void()>;

  executor(const executable& e, run_memory& memory, task_services& services, step_state& step, thread_pool* inter_op)
      : e_(e), m_(memory), services_(services), step_(step), pool_(inter_op) {}

  // In order, in this thread. Requires: nothing in it waits.
  void run_in_order() {
    for (std::size_t i = 0; i < e_.items.size() && !step_.failed(); ++i) {
      step_.check_deadline();
      const auto& it = e_.items[i];
      inputs_.clear();
      for (const auto& in : it.inputs) {
        auto& slot = m_.slots[static_cast<std::size_t>(in.slot)];
        if (in.last_in_order)
          inputs_.push_back(std::move(slot));
        else
          inputs_.push_back(slot);
      }
      run_item(it, inputs_);
    }
    clear();
  }

  // By dependencies; returns when there is nothing left to do in this thread. `done` may be called in any thread.
  void start(finished done) {
    done_ = std::move(done);
    remaining_.store(static_cast<int>(e_.items.size()), std::memory_order_relaxed);
    for (std::size_t s = 0; s < m_.readers.size(); ++s) m_.readers[s].store(e_.readers[s], std::memory_order_relaxed);
    ready_items ready;
    for (std::size_t i = 0; i < e_.items.size(); ++i) {
      m_.pending[i].store(e_.items[i].predecessors, std::memory_order_relaxed);
      if (e_.items[i].predecessors == 0) ready.push(static_cast<int>(i));
    }
    if (e_.items.empty()) return finish();
    const auto self = shared_from_this();
    process(std::move(ready));
  }

 private:
  using ready_items = std::priority_queue<int, std::vector<int>, std::greater<int>>;

  void process(ready_items ready) {
    while (!ready.empty()) {
      const int i = ready.top();
      ready.pop();
      share_expensive(ready);
      begin(i, &ready);
    }
  }

  // Hands all but the first expensive items to the pool, so that they run beside this thread.
  void share_expensive(ready_items& ready) {
    if (!pool_ || pool_->threads() == 0 || ready.empty()) return;
    if (!e_.items[static_cast<std::size_t>(ready.top())].expensive()) return;
    const int other = ready.top();
    ready.pop();
    pool_->schedule([self = shared_from_this(), other] {
      ready_items one;
      one.push(other);
      self->process(std::move(one));
    });
  }

  void begin(int i, ready_items* ready) {
    step_.check_deadline();
    const auto& it = e_.items[static_cast<std::size_t>(i)];
    if (!step_.failed() && it.blocking) return wait(i);
    if (!step_.failed()) {
      std::vector<any_tensor> inputs = take_inputs(it);
      run_item(it, inputs);
    }
    complete(i, ready);
  }

  std::vector<any_tensor> take_inputs(const executable::item& it) {
    std::vector<any_tensor> inputs;
    inputs.reserve(it.inputs.size());
    for (const auto& in : it.inputs) {
      auto& slot = m_.slots[static_cast<std::size_t>(in.slot)];
      // A copy first: another reader may hold the slot until it has counted itself out.
      any_tensor value = slot;
      if (m_.readers[static_cast<std::size_t>(in.slot)].fetch_sub(1, std::memory_order_acq_rel) == 1) slot = {};
      inputs.push_back(std::move(value));
    }
    return inputs;
  }

  kernel_context context(const executable::item& it, std::vector<any_tensor>& inputs) {
    kernel_context c;
    c.node = &(*e_.graph)[it.node];
    c.device = e_.device;
    c.watch = &step_;
    c.services = &services_;
    c.rendezvous = step_.rendezvous;
    c.cancellation = &step_.cancellation;
    c.step = step_.step;
    c.inputs = inputs;
    c.outputs = {m_.slots.data() + it.first_output, static_cast<std::size_t>(it.outputs)};
    c.wanted = it.wanted;
    c.tracer = step_.tracer;
    return c;
  }

  void run_item(const executable::item& it, std::vector<any_tensor>& inputs) {
    try {
      switch (it.kind) {
        case part_item::feed:
          // Each feed has one item; so what it fed is free for whoever takes it last.
          m_.slots[static_cast<std::size_t>(it.first_output)] =
              std::move(step_.feeds[static_cast<std::size_t>(it.index)]);
          break;
        case part_item::fetch: step_.fetches[static_cast<std::size_t>(it.index)] = std::move(inputs[0]); break;
        default: {
          kernel_context c = context(it, inputs);
          if (step_.tracer)
            run_traced(it, c);
          else
            it.kernel->run(c);
          drop_unwanted(it);
        }
      }
    } catch (...) {
      blame(it, current_error());
    }
  }

  // ---- written down

  void run_traced(const executable::item& it, kernel_context& c) {
    const traced_item time = begin_trace(it, c.inputs);
    it.kernel->run(c);
    time.end(bytes_of(c.outputs));
  }
  traced_item begin_trace(const executable::item& it, std::span<const any_tensor> inputs) const {
    const node& n = (*e_.graph)[it.node];
    trace_event e{.node = n.name, .op = n.op, .device = e_.device->name(), .key = it.key};
    if (it.kind == part_item::receive) e.kind = trace_event::receive;
    if (it.kind == part_item::send) {
      e.kind = trace_event::send;
      e.bytes = bytes_of(inputs);
    }
    return {*step_.tracer, *e_.device, std::move(e)};
  }
  static std::int64_t bytes_of(std::span<const any_tensor> values) {
    std::size_t sum = 0;
    for (const any_tensor& v : values)
      if (!v.empty()) sum += v.bytes();
    return static_cast<std::int64_t>(sum);
  }

  void blame(const executable::item& it, error e) {
    const node& n = (*e_.graph)[it.node];
    step_.fail(e.at_node(n.name, n.op, to_string(n.where)).on_device(e_.device->name()));
  }

  // Items that end in another thread, or later. Their context lives until they do. A kernel that throws after it has
  // ended has ended once.
  void wait(int i) {
    struct waiting {
      std::vector<any_tensor> inputs;
      kernel_context context;
      std::optional<traced_item> time;
      std::atomic<bool> ended{false};
    };
    const auto& it = e_.items[static_cast<std::size_t>(i)];
    auto held = std::make_shared<waiting>();
    held->inputs = take_inputs(it);
    held->context = context(it, held->inputs);
    if (step_.tracer) held->time = begin_trace(it, held->inputs);
    const auto ended = [self = shared_from_this(), i, held](const error* failed) {
      if (held->ended.exchange(true, std::memory_order_acq_rel)) return;
      if (!failed && held->time) held->time->end(bytes_of(held->context.outputs));
      if (failed)
        self->blame(self->e_.items[static_cast<std::size_t>(i)], *failed);
      else
        self->drop_unwanted(self->e_.items[static_cast<std::size_t>(i)]);
      self->resume(i);
    };
    try {
      it.kernel->start(held->context, ended);
    } catch (...) {
      const error e = current_error();
      ended(&e);
    }
  }

  // Outputs that nobody reads need not live until the end of the step.
  void drop_unwanted(const executable::item& it) {
    for (int o = 0; o < it.outputs; ++o)
      if (!it.wanted[static_cast<std::size_t>(o)]) m_.slots[static_cast<std::size_t>(it.first_output + o)] = {};
  }

  // Goes on behind an item that has ended in this thread. Ends bring about others, in other executors too: beyond some
  // depth they wait for the stack to unwind, so that it does not grow with the length of a step.
  void resume(int i) {
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
  static constexpr int deepest = 32;
  void go_on_behind(int i) {
    ready_items ready;
    complete(i, &ready);
    process(std::move(ready));
  }

  void complete(int i, ready_items* ready) {
    for (int next : e_.items[static_cast<std::size_t>(i)].successors)
      if (m_.pending[static_cast<std::size_t>(next)].fetch_sub(1, std::memory_order_acq_rel) == 1) ready->push(next);
    if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) finish();
  }

  // A stream may still be working: the run ends when it has reached this point, and only then are errors known.
  void finish() {
    if (auto* stream = e_.device->stream()) {
      stream->when_reached([self = shared_from_this()](const error* failed) {
        if (failed) self->step_.fail(error(*failed).on_device(self->e_.device->name()));
        self->close();
      });
    } else {
      close();
    }
  }
  void close() {
    clear();
    auto done = std::move(done_);
    if (done) done();
  }
  void clear() {
    for (auto& slot : m_.slots) slot = {};
  }

  const executable& e_;
  run_memory& m_;
  task_services& services_;
  step_state& step_;
  thread_pool* pool_;
  std::vector<any_tensor> inputs_;
  std::atomic<int> remaining_{0};
  finished done_;
};

}  // namespace pinion::inline v0::runtime
