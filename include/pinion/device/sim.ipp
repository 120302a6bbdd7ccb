// Bodies of <pinion/device/sim.hpp>.
#pragma once

#include <cstring>
#include <new>

#include <pinion/device/sim.hpp>

namespace pinion { inline namespace v0 { namespace devices {

PINION_DECL void sim_event::reach(outcome<> how) {
  std::lock_guard hold(mutex_);
  reached_ = true;
  how_ = std::move(how);
  changed_.notify_all();
}

PINION_DECL void sim_event::await() {
  std::unique_lock hold(mutex_);
  changed_.wait(hold, [this] { return reached_; });
  how_.value();
}

PINION_DECL sim_stream::~sim_stream() {
  {
    std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

PINION_DECL std::shared_ptr<event> sim_stream::record() {
  auto point = std::make_shared<sim_event>();
  push({{}, {}, point});
  return point;
}

PINION_DECL void sim_stream::wait(std::shared_ptr<event> point) {
  enqueue([point = std::static_pointer_cast<sim_event>(std::move(point))] { point->await(); });
}

PINION_DECL void sim_stream::synchronize() {
  std::mutex m;
  std::condition_variable reached;
  outcome<> how;
  bool done = false;
  when_reached([&](outcome<> ended) {
    std::lock_guard hold(m);
    how = std::move(ended);
    done = true;
    reached.notify_one();
  });
  std::unique_lock hold(m);
  reached.wait(hold, [&] { return done; });
  how.value();
}

PINION_DECL void sim_stream::push(entry e) {
  {
    std::lock_guard hold(mutex_);
    queue_.push_back(std::move(e));
  }
  wake_.notify_one();
}

PINION_DECL void sim_stream::run(entry& e) {
  if (e.point) {
    e.point->reach(so_far_);
  } else if (e.callback) {
    e.callback(std::exchange(so_far_, {}));
  } else if (so_far_) {
    so_far_ = outcome_of(e.body);
  }
}

PINION_DECL void sim_stream::work() {
  std::unique_lock hold(mutex_);
  for (;;) {
    wake_.wait(hold, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    entry e = std::move(queue_.front());
    queue_.pop_front();
    hold.unlock();
    run(e);
    e = {};
    hold.lock();
  }
}

PINION_DECL sim_allocator::~sim_allocator() {
  order_.reset();
  for (auto& [size, b] : idle_) destroy(b);
}

PINION_DECL buffer* sim_allocator::allocate(std::size_t bytes) {
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + 255) / 256 * 256;
  buffer* b = take(size, bytes);
  b->hand_out(shared_from_this());
  return b;
}

PINION_DECL void sim_allocator::recycle(buffer* b) noexcept {
  const auto self = b->leave_home();
  void* data = b->data();
  const std::size_t size = b->capacity();
  order_->enqueue([data, size] { std::memset(data, 0xDD, size); });
  std::lock_guard hold(mutex_);
  used_ -= static_cast<std::int64_t>(size);
  idle_.emplace(size, b);
}

PINION_DECL std::int64_t sim_allocator::used() const {
  std::lock_guard hold(mutex_);
  return used_;
}

PINION_DECL std::int64_t sim_allocator::peak() const {
  std::lock_guard hold(mutex_);
  return peak_;
}

PINION_DECL buffer* sim_allocator::take(std::size_t size, std::size_t asked) {
  std::lock_guard hold(mutex_);
  const bool injected = fail_at_ > 0 && --fail_at_ == 0;
  if (injected || used_ + static_cast<std::int64_t>(size) > limit_)
    throw error(errc::resource_exhausted, "no memory for " + std::to_string(asked) + " bytes on " + name_ + ": " +
                                              std::to_string(used_) + " of " + std::to_string(limit_) +
                                              " bytes are in use")
        .on_device(name_);
  buffer* const b = block(size);
  used_ += static_cast<std::int64_t>(size);
  peak_ = std::max(peak_, used_);
  return b;
}

PINION_DECL buffer* sim_allocator::block(std::size_t size) {
  if (const auto at = idle_.find(size); at != idle_.end()) {
    buffer* b = at->second;
    idle_.erase(at);
    return b;
  }
  void* data = ::operator new (size, std::align_val_t{64}, std::nothrow);
  if (!data)
    throw error(errc::resource_exhausted, "the host has no memory for " + std::to_string(size) + " bytes of " + name_);
  std::memset(data, 0xA5, size);
  return new buffer(data, size);
}

PINION_DECL void sim_allocator::destroy(buffer* b) {
  ::operator delete (b->data(), std::align_val_t{64});
  delete b;
}

PINION_DECL sim_device::sim_device(const device_spec& spec, const sim::accelerator& like)
    : device(spec, like.memory_limit, "simulated " + like.type + ", computing on the host"),
      memory_(std::make_shared<sim_allocator>(name(), like, stream_)) {}

PINION_DECL sim_device::~sim_device() {
  for (int i = 0; i < 2; ++i) {
    try {
      stream_->synchronize();
    } catch (...) {
    }
  }
}

PINION_DECL any_tensor sim_device::from_host(const any_tensor& value) {
  if (value.dtype() == dtype::string)
    throw error(errc::invalid_argument, "text stays in host memory; it cannot go to " + name());
  any_tensor copy(value.dtype(), value.shape(), *memory_);
  stream_->enqueue([value, data = copy.raw()] { std::memcpy(data, value.raw(), value.bytes()); });
  return copy;
}

PINION_DECL any_tensor sim_device::from_peer(const any_tensor& value, std::shared_ptr<event> ready) {
  any_tensor copy(value.dtype(), value.shape(), *memory_);
  stream_->wait(std::move(ready));
  stream_->enqueue([value, data = copy.raw()] { std::memcpy(data, value.raw(), value.bytes()); });
  return copy;
}

PINION_DECL void sim_device::to_host(const any_tensor& value, completion<any_tensor> done) {
  any_tensor copy(value.dtype(), value.shape());
  stream_->enqueue([from = value.raw(), copy] { std::memcpy(copy.raw(), from, copy.bytes()); });
  stream_->when_reached([copy, done = std::move(done)](outcome<> copied) mutable {
    done(std::move(copied).then([&] { return std::move(copy); }));
  });
}

}}}  // namespace pinion::v0::devices
