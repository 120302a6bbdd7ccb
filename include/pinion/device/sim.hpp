// A pretend accelerator: an address space with a limit, an ordered stream on a real thread, the kernel list of a GPU.
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include <pinion/device/device.hpp>

namespace pinion::inline v0 {

namespace sim {
// What a simulated accelerator is like; pn::sim::gpu() in a session's options.
struct accelerator {
  std::string type = "GPU";
  std::int64_t memory_limit = std::int64_t{1} << 30;  // bytes
  std::int64_t fail_allocation = 0;                   // the n-th allocation fails, once; 0: none does
};
inline accelerator gpu(std::int64_t memory_limit = std::int64_t{1} << 30) {
  return {"GPU", memory_limit, 0};
}
}  // namespace sim

namespace devices {

class sim_event final : public event {
 public:
  void reach(const std::optional<error>& failure) {
    std::lock_guard hold(mutex_);
    reached_ = true;
    failure_ = failure;
    changed_.notify_all();
  }
  // Blocks until it is reached; throws what had failed the stream there.
  void await() {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [this] { return reached_; });
    if (failure_) throw *failure_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
  std::optional<error> failure_;
};

// A thread that runs what it is given, in order.
class sim_stream final : public stream {
 public:
  sim_stream() : thread_([this] { work(); }) {}
  ~sim_stream() override {
    {
      std::lock_guard hold(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

  void enqueue(std::function<void()> body) override { push({std::move(body), {}, {}}); }
  void when_reached(std::function<void(const error*)> callback) override { push({{}, std::move(callback), {}}); }
  std::shared_ptr<event> record() override {
    auto point = std::make_shared<sim_event>();
    push({{}, {}, point});
    return point;
  }
  void wait(std::shared_ptr<event> point) override {
    enqueue([point = std::static_pointer_cast<sim_event>(std::move(point))] { point->await(); });
  }
  void synchronize() override {
    std::mutex m;
    std::condition_variable reached;
    std::optional<error> failure;
    bool done = false;
    when_reached([&](const error* e) {
      std::lock_guard hold(m);
      if (e) failure = *e;
      done = true;
      reached.notify_one();
    });
    std::unique_lock hold(m);
    reached.wait(hold, [&] { return done; });
    if (failure) throw *failure;
  }

 private:
  struct entry {
    std::function<void()> body;
    std::function<void(const error*)> callback;
    std::shared_ptr<sim_event> point;
  };

  void push(entry e) {
    {
      std::lock_guard hold(mutex_);
      queue_.push_back(std::move(e));
    }
    wake_.notify_one();
  }
  // A failed stream stays failed until its callbacks were told: then the next step starts afresh.
  void run(entry& e) {
    if (e.point) {
      e.point->reach(failure_);
    } else if (e.callback) {
      e.callback(failure_ ? &*failure_ : nullptr);
      failure_.reset();
    } else if (!failure_) {
      try {
        e.body();
      } catch (...) {
        failure_ = current_error();
      }
    }
  }
  void work() {
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

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<entry> queue_;
  bool stopping_ = false;
  std::optional<error> failure_;  // touched by the thread alone
  std::thread thread_;
};

// Memory that counts against a limit. Fresh blocks hold 0xA5 bytes and returned ones 0xDD, in stream order, so that a
// read before a write, or after a release, shows.
class sim_allocator final : public allocator {
 public:
  sim_allocator(std::string name, const sim::accelerator& like, std::shared_ptr<stream> order)
      : name_(std::move(name)), limit_(like.memory_limit), fail_at_(like.fail_allocation), order_(std::move(order)) {}
  // The stream may still be poisoning a block, where a tensor was the last to hold this.
  ~sim_allocator() override {
    order_.reset();
    for (auto& [size, b] : idle_) destroy(b);
  }

  bool is_host() const override { return false; }
  buffer* allocate(std::size_t bytes) override {
    const std::size_t size = (std::max<std::size_t>(bytes, 1) + 255) / 256 * 256;
    buffer* b = take(size, bytes);
    b->hand_out(shared_from_this());
    return b;
  }
  // The host lets go before the stream is done with it; whoever gets the block next is behind in the same stream.
  void recycle(buffer* b) noexcept override {
    void* data = b->data();
    const std::size_t size = b->capacity();
    order_->enqueue([data, size] { std::memset(data, 0xDD, size); });
    std::lock_guard hold(mutex_);
    used_ -= static_cast<std::int64_t>(size);
    idle_.emplace(size, b);
  }
  std::int64_t used() const {
    std::lock_guard hold(mutex_);
    return used_;
  }
  std::int64_t peak() const {
    std::lock_guard hold(mutex_);
    return peak_;
  }

 private:
  buffer* take(std::size_t size, std::size_t asked) {
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
  buffer* block(std::size_t size) {
    if (const auto at = idle_.find(size); at != idle_.end()) {
      buffer* b = at->second;
      idle_.erase(at);
      return b;
    }
    void* data = ::operator new (size, std::align_val_t{64}, std::nothrow);
    if (!data)
      throw error(errc::resource_exhausted,
                  "the host has no memory for " + std::to_string(size) + " bytes of " + name_);
    std::memset(data, 0xA5, size);
    return new buffer(data, size);
  }
  static void destroy(buffer* b) {
    ::operator delete (b->data(), std::align_val_t{64});
    delete b;
  }

  const std::string name_;
  const std::int64_t limit_;
  std::int64_t fail_at_;
  std::shared_ptr<stream> order_;  // outlives the device where a tensor of its memory does
  mutable std::mutex mutex_;
  std::int64_t used_ = 0, peak_ = 0;
  std::multimap<std::size_t, buffer*> idle_;
};

// A GPU that is not there: it answers to /device:GPU:N where a session asked for it, and computes on the host.
class sim_device final : public device {
 public:
  sim_device(const device_spec& spec, const sim::accelerator& like)
      : device(spec, like.memory_limit, "simulated " + like.type + ", computing on the host"),
        memory_(std::make_shared<sim_allocator>(name(), like, stream_)) {}

  sim_allocator& memory() override { return *memory_; }
  devices::stream* stream() override { return stream_.get(); }

  // Blocks that came back are still being poisoned by the stream, and bodies that end give back what they held: once
  // for the bodies, once for the poison of their blocks.
  ~sim_device() override {
    for (int i = 0; i < 2; ++i) {
      try {
        stream_->synchronize();
      } catch (...) {
      }
    }
  }

  // The host tensor is read when the stream gets there, and held until then.
  any_tensor from_host(const any_tensor& value) override {
    if (value.dtype() == dtype::string)
      throw error(errc::invalid_argument, "text stays in host memory; it cannot go to " + name());
    any_tensor copy(value.dtype(), value.shape(), *memory_);
    stream_->enqueue([value, data = copy.raw()] { std::memcpy(data, value.raw(), value.bytes()); });
    return copy;
  }
  any_tensor from_peer(const any_tensor& value, std::shared_ptr<event> ready) override {
    any_tensor copy(value.dtype(), value.shape(), *memory_);
    stream_->wait(std::move(ready));
    stream_->enqueue([value, data = copy.raw()] { std::memcpy(data, value.raw(), value.bytes()); });
    return copy;
  }
  void to_host(const any_tensor& value, std::function<void(any_tensor, const error*)> done) override {
    any_tensor copy(value.dtype(), value.shape());
    stream_->enqueue([from = value.raw(), copy] { std::memcpy(copy.raw(), from, copy.bytes()); });
    stream_->when_reached([copy, done = std::move(done)](const error* failed) { done(copy, failed); });
  }

 private:
  const std::shared_ptr<sim_stream> stream_ = std::make_shared<sim_stream>();
  std::shared_ptr<sim_allocator> memory_;
};

}  // namespace devices
}  // namespace pinion::inline v0
