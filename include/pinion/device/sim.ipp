// Bodies of <pinion/device/sim.hpp>.
#pragma once

#include <cstring>

#include <pinion/device/sim.hpp>

namespace pinion { inline namespace v0 { namespace devices {

PINION_DECL shared_error sim_card::failure() const {
  std::lock_guard hold(mutex_);
  return failure_;
}

PINION_DECL void sim_card::fail(shared_error why) {
  std::lock_guard hold(mutex_);
  if (!failure_) failure_ = std::move(why);
}

PINION_DECL void sim_mark::reach() {
  std::lock_guard hold(mutex_);
  at_ = std::chrono::steady_clock::now();
}

PINION_DECL std::optional<mark::time_point> sim_mark::time() const {
  std::lock_guard hold(mutex_);
  return at_;
}

PINION_DECL void sim_stream::enqueue(std::function<void()> body) {
  thread_.post([this, body = std::move(body)] {
    if (card_->failure()) return;
    const guarded_memory::access here(guarded_memory::of_sims());
    if (const auto ran = outcome_of(body); !ran) card_->fail(ran.failure());
  });
}

PINION_DECL void sim_stream::when_reached(completion<> callback) {
  thread_.post([this, callback = std::move(callback)]() mutable {
    card_->callbacks.post([callback = std::move(callback), how = outcome<>(card_->failure())] { callback(how); });
  });
}

PINION_DECL std::shared_ptr<event> sim_stream::record() {
  auto point = std::make_shared<sim_event>();
  thread_.post([point] { point->reach(); });
  return point;
}

PINION_DECL void sim_stream::wait(std::shared_ptr<event> point) {
  thread_.post([point = std::static_pointer_cast<sim_event>(std::move(point))] { point->await(); });
}

PINION_DECL std::shared_ptr<devices::mark> sim_stream::mark() {
  auto point = std::make_shared<sim_mark>();
  thread_.post([point] { point->reach(); });
  return point;
}

PINION_DECL void sim_stream::synchronize() {
  settle();
  outcome<>(card_->failure()).value();
}

PINION_DECL sim_allocator::~sim_allocator() {
  order_.reset();
  for (void* const data : ledger_.drop_idle()) memory_.free(data);
}

PINION_DECL buffer* sim_allocator::allocate(std::size_t bytes, std::string_view holder) {
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + 255) / 256 * 256;
  std::lock_guard hold(mutex_);
  const bool injected = fail_at_ > 0 && --fail_at_ == 0;
  if (injected || !ledger_.has_room(size)) throw ledger_.no_memory(bytes);
  buffer* b = ledger_.take_idle(size, holder);
  if (!b) b = ledger_.add(fresh_memory(size), size, holder);
  b->hand_out(shared_from_this());
  return b;
}

PINION_DECL void sim_allocator::rename(buffer& in_use, std::string_view holder) {
  std::lock_guard hold(mutex_);
  ledger_.rename(in_use, holder);
}

PINION_DECL void sim_allocator::recycle(buffer* b) noexcept {
  const auto self = b->leave_home();
  order_->enqueue([data = b->data(), size = b->capacity()] { std::memset(data, 0xDD, size); });
  std::lock_guard hold(mutex_);
  ledger_.keep(*b);
}

PINION_DECL std::int64_t sim_allocator::used() const {
  std::lock_guard hold(mutex_);
  return ledger_.used();
}

PINION_DECL std::int64_t sim_allocator::peak() const {
  std::lock_guard hold(mutex_);
  return ledger_.peak();
}

PINION_DECL void* sim_allocator::fresh_memory(std::size_t size) const {
  void* data = memory_.allocate(size);
  if (!data)
    throw error(errc::resource_exhausted,
                "the host has no memory for " + std::to_string(size) + " bytes of " + ledger_.device());
  const guarded_memory::access here(memory_);
  std::memset(data, 0xA5, size);
  return data;
}

PINION_DECL sim_device::sim_device(const device_spec& spec, const sim::accelerator& like)
    : device(spec, like.memory_limit, "simulated " + like.type + ", computing on the host"),
      memory_(std::make_shared<sim_allocator>(name(), like, stream_)) {}

PINION_DECL sim_device::~sim_device() {
  stream_->settle();
  copies_.settle();
  card_->callbacks.settle();
  stream_->settle();
}

PINION_DECL any_tensor sim_device::from_host(const any_tensor& value) {
  if (value.dtype() == dtype::string)
    throw error(errc::invalid_argument, "text stays in host memory; it cannot go to " + name());
  return take(value, nullptr);
}

PINION_DECL any_tensor sim_device::from_peer(const any_tensor& value, std::shared_ptr<event> ready) {
  return take(value, std::move(ready));
}

PINION_DECL any_tensor sim_device::take(const any_tensor& value, std::shared_ptr<event> ready) {
  any_tensor copy(value.dtype(), value.shape(), *memory_);
  copies_.wait(stream_->record());  // until then the block belongs to its former user
  if (ready) copies_.wait(std::move(ready));
  copies_.enqueue([from = value.raw(), to = copy.raw(), bytes = value.bytes()] { std::memcpy(to, from, bytes); });
  copies_.when_reached([value](const outcome<>&) {});
  stream_->wait(copies_.record());
  return copy;
}

PINION_DECL void sim_device::to_host(const any_tensor& value, completion<any_tensor> done) {
  any_tensor copy(value.dtype(), value.shape());
  copies_.wait(stream_->record());
  copies_.enqueue([from = value.raw(), to = copy.raw(), bytes = copy.bytes()] { std::memcpy(to, from, bytes); });
  copies_.when_reached([held = value, copy, done = std::move(done)](outcome<> copied) mutable {
    held = {};
    done(std::move(copied).then([&] { return std::move(copy); }));
  });
}

}}}  // namespace pinion::v0::devices
