// A pretend accelerator: an address space with a limit, an ordered stream on a real thread, the kernel list of a GPU.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <pinion/base/config.hpp>
#include <pinion/device/accelerator.hpp>
#include <pinion/device/device.hpp>

namespace pinion { inline namespace v0 { namespace devices {

class sim_event final : public event {
 public:
  void reach(const std::optional<error>& failure);
  // Blocks until it is reached; throws what had failed the stream there.
  void await();

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
  ~sim_stream() override;

  void enqueue(std::function<void()> body) override { push({std::move(body), {}, {}}); }
  void when_reached(std::function<void(const error*)> callback) override { push({{}, std::move(callback), {}}); }
  std::shared_ptr<event> record() override;
  void wait(std::shared_ptr<event> point) override;
  void synchronize() override;

 private:
  struct entry {
    std::function<void()> body;
    std::function<void(const error*)> callback;
    std::shared_ptr<sim_event> point;
  };

  void push(entry e);
  // A failed stream stays failed until its callbacks were told: then the next step starts afresh.
  void run(entry& e);
  void work();

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
  ~sim_allocator() override;

  bool is_host() const override { return false; }
  buffer* allocate(std::size_t bytes) override;
  // The host lets go before the stream is done with it; whoever gets the block next is behind in the same stream.
  void recycle(buffer* b) noexcept override;
  std::int64_t used() const;
  std::int64_t peak() const;

 private:
  buffer* take(std::size_t size, std::size_t asked);
  buffer* block(std::size_t size);
  static void destroy(buffer* b);

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
  sim_device(const device_spec& spec, const sim::accelerator& like);

  sim_allocator& memory() override { return *memory_; }
  devices::stream* stream() override { return stream_.get(); }

  // Blocks that came back are still being poisoned by the stream, and bodies that end give back what they held: once
  // for the bodies, once for the poison of their blocks.
  ~sim_device() override;

  // The host tensor is read when the stream gets there, and held until then.
  any_tensor from_host(const any_tensor& value) override;
  any_tensor from_peer(const any_tensor& value, std::shared_ptr<event> ready) override;
  void to_host(const any_tensor& value, std::function<void(any_tensor, const error*)> done) override;

 private:
  const std::shared_ptr<sim_stream> stream_ = std::make_shared<sim_stream>();
  std::shared_ptr<sim_allocator> memory_;
};

}}}  // namespace pinion::v0::devices

#if PINION_HEADER_ONLY
#include <pinion/device/sim.ipp>
#endif
