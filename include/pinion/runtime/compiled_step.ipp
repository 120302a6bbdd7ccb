// Bodies of <pinion/runtime/compiled_step.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <pinion/base/log.hpp>
#include <pinion/base/said_wait.hpp>
#if PINION_HAS_CUDA
#include <pinion/op/cuda_kernels.hpp>
#endif
#include <pinion/runtime/check/node_values.hpp>
#include <pinion/runtime/compiled_step.hpp>
#include <pinion/runtime/step/bound_step.hpp>
#include <pinion/runtime/step/in_order_run.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL compiled_step::compiled_step(std::vector<partition> parts, graph_view g, runtime::task& on,
                                         session_kernels& kernels, const std::shared_ptr<body_compiler>& bodies)
    : task_(on) {
  for (auto& part : parts) {
    auto& device = *on.devices.at(static_cast<std::size_t>(part.device));
    parts_.push_back(std::make_unique<executable>(std::move(part), g, device, on.services, bodies,
                                                  [&](const kernel_setup& s) { return kernels.find_or_make(s); }));
  }
  if (parts_.empty()) return;
  make_announced_code();
  uses_gpus_ = std::any_of(parts_.begin(), parts_.end(),
                           [](const auto& part) { return part->device->kernels() == devices::kernel_code::cuda; });
  checks_values_ = parts_[0]->checks_values;
  waits_ = parts_.size() != 1 || parts_[0]->waits || parts_[0]->device->stream();
  if (!waits_ && on.item_helpers > 0 && parts_[0]->items.size() > 1)
    lanes_ = std::make_unique<lane_choice>(*parts_[0], on.pool, on.item_helpers);
}

PINION_DECL void compiled_step::make_announced_code() {
#if PINION_HAS_CUDA
  for (const auto& part : parts_)
    if (part->device->kernels() == devices::kernel_code::cuda)
      pinion::make_announced_code(*part->device, task_.services.intra_op);
#endif
}

PINION_DECL void compiled_step::run(step_state& state) {
  if (!waits_) return run_here(state);
  countdown ended;
  start(state, [&ended] { ended.count_down(); });
  if (await(ended, state, state.deadline)) return;
  state.fail(state.too_late());
  await(ended, state, {});  // kernels that nobody can cancel use what is freed after this
}

PINION_DECL bool compiled_step::await(countdown& ended, const step_state& state,
                                      const std::optional<time_point>& deadline) {
  if (ended.done()) return true;
  const time_point begin = std::chrono::steady_clock::now();
  const auto ran = [begin] { return std::chrono::steady_clock::now() - begin; };
  std::chrono::nanoseconds spins = uses_gpus_ ? looks_.next() : countdown::brief;
  for (time_point next = begin;;) {
    next += pinion::detail::silence_of_waits();
    const bool is_last = deadline && *deadline <= next;
    const bool has_ended = ended.wait(is_last ? *deadline : next, spins);
    if (uses_gpus_ && spins.count() > 0) looks_.took(ran());
    if (has_ended || is_last) return has_ended;
    spins = {};
    // The run goes on, and refers to what this function's caller holds: no error leaves it.
    if (!state.within) static_cast<void>(outcome_of([&] { say_where(state, ran()); }));
  }
}

PINION_DECL void compiled_step::say_where(const step_state& state, std::chrono::nanoseconds ran) {
  const std::string in = state.where();
  write_log(log_level::warning, "",
            fmt::format("step {} of a session has run for {:.1f} s{}", state.step,
                        std::chrono::duration<double>(ran).count(), in.empty() ? "" : ", and is in " + in));
}

PINION_DECL bool compiled_step::takes_briefly() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->takes_briefly; });
}

PINION_DECL std::unique_ptr<bound_body> compiled_step::bind(std::span<const cell> feeds) const {
  if (parts_.size() != 1 || waits_) return nullptr;
  return bound_step::make(*parts_[0], feeds);
}

PINION_DECL void compiled_step::run_here(step_state& state) {
  if (parts_.empty() || (checks_values_ && !bears_feeds(state))) return;
  auto memory = acquire();
  run_memory& m = *memory->front();
  if (lanes_)
    lanes_->run(m, task_.services, state);
  else
    in_order_run(*parts_[0], m, task_.services, state).run();
  release(std::move(memory));
}

PINION_DECL void compiled_step::start(step_state& state, std::function<void()> done) {
  if (!waits_) {
    if (const auto ran = outcome_of([&] { run_here(state); }); !ran) state.fail(*ran.failure());
    return done();
  }
  if (const auto same = outcome_of([&] { made_in_.expect("the session"); }); !same)
    return state.fail(*same.failure()), done();
  if (checks_values_ && !bears_feeds(state)) return done();
  struct under_way {
    compiled_step& of;
    std::unique_ptr<step_memory> memory;
    std::vector<std::shared_ptr<executor>> parts = {};
    std::atomic<int> left{0};
    std::function<void()> done = {};
  };
  std::unique_ptr<under_way> all;
  const auto made = outcome_of([&] {  // all that takes memory, before anything begins
    all.reset(new under_way{*this, acquire()});
    for (std::size_t i = 0; i < parts_.size(); ++i)
      all->parts.push_back(std::make_shared<executor>(*parts_[i], *(*all->memory)[i], task_.services, state,
                                                      task_.item_helpers > 0 ? &task_.pool : nullptr));
  });
  if (!made) return state.fail(*made.failure()), done();
  all->left = static_cast<int>(parts_.size());
  all->done = std::move(done);
  const auto parts = std::move(all->parts);
  for (auto* const of_all = all.release(); const auto& part : parts)  // this object may be gone once the last has begun
    part->start([all = of_all] {
      if (all->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      const std::unique_ptr<under_way> over(all);
      over->of.release(std::move(over->memory));
      over->done();
    });
}

PINION_DECL bool compiled_step::bears_feeds(step_state& state) const {
  for (const auto& part : parts_)
    for (const executable_item& it : part->items) {
      if (it.kind != part_item::feed) continue;
      const any_tensor& value = state.feeds[static_cast<std::size_t>(it.index)];
      if (!value.on_host()) continue;
      if (auto e = bad_feed(*it.node, value)) return state.fail(e->on_device(part->device->name())), false;
    }
  return true;
}

PINION_DECL std::unique_ptr<compiled_step::step_memory> compiled_step::acquire() {
  if (auto* const m = spare_.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<step_memory>(m);
  {
    std::lock_guard hold(mutex_);
    if (!idle_.empty()) {
      auto m = std::move(idle_.back());
      idle_.pop_back();
      return m;
    }
  }
  auto m = std::make_unique<step_memory>();
  for (const auto& p : parts_) m->push_back(std::make_unique<run_memory>(*p));
  return m;
}

PINION_DECL void compiled_step::release(std::unique_ptr<step_memory> m) {
  step_memory* none = nullptr;
  if (spare_.compare_exchange_strong(none, m.get(), std::memory_order_release, std::memory_order_relaxed))
    return void(m.release());
  std::lock_guard hold(mutex_);
  static_cast<void>(outcome_of([&] { idle_.push_back(std::move(m)); }));  // else it goes
}

}}}  // namespace pinion::v0::runtime
