// A simulated accelerator: memory with a limit, an ordered stream on a thread, a thread that calls back, and the kernel
// list of a GPU.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/device/accelerator.hpp>
#include <pinion/device/device.hpp>
#include <pinion/device/guarded_memory.hpp>
#include <pinion/device/ledger.hpp>
#include <pinion/device/ordered_thread.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// The part of a simulated device that its streams share: the thread that calls back, and the first failure, which
// stays. Thread-safe. No callback may be the last to hold it.
class sim_card {
 public:
  // The failure of the device; null: none so far.
  shared_error failure() const;
  void fail(shared_error why);

  ordered_thread callbacks;

 private:
  mutable std::mutex mutex_;
  shared_error failure_;
};

// An event of a simulated stream. Thread-safe.
class sim_event final : public event {
 public:
  void reach() { reached_.count_down(); }
  // Blocks until the point is reached.
  void await() { reached_.wait(); }

 private:
  countdown reached_;
};

// A mark of a simulated stream. Thread-safe.
class sim_mark final : public mark {
 public:
  void reach();
  std::optional<time_point> time() const override;

 private:
  mutable std::mutex mutex_;
  std::optional<time_point> at_;
};

// A stream with a thread of its own, in which bodies run, which reach the memory of simulated GPUs; callbacks run in
// the card's. Its destructor runs what is queued and joins the thread.
class sim_stream final : public stream {
 public:
  explicit sim_stream(std::shared_ptr<sim_card> of) : card_(std::move(of)) {}

  void enqueue(std::function<void()> body) override;
  void when_reached(completion<> callback) override;
  std::shared_ptr<event> record() override;
  void wait(std::shared_ptr<event> point) override;
  std::shared_ptr<devices::mark> mark() override;
  void synchronize() override;
  // Waits as synchronize() does, and does not throw.
  void settle() { thread_.settle(); }

 private:
  const std::shared_ptr<sim_card> card_;
  ordered_thread thread_;
};

// Allocates memory that counts against a limit. New blocks are filled with 0xA5 and returned ones with 0xDD, in the
// order of the stream, so that a read before a write, or after a release, is noticed. Thread-safe. allocate() throws
// resource_exhausted beyond the limit, and at the allocation that is to fail; the sentence names the largest holders.
class sim_allocator final : public allocator {
 public:
  sim_allocator(std::string name, const sim::accelerator& like, std::shared_ptr<stream> order)
      : fail_at_(like.fail_allocation), order_(std::move(order)), ledger_(std::move(name), like.memory_limit) {}
  // Ends the stream first: where a tensor was the last to keep this allocator alive, the stream may still be filling a
  // block.
  ~sim_allocator() override;

  bool is_host() const override { return false; }
  buffer* allocate(std::size_t bytes, std::string_view holder) override;
  void rename(buffer& in_use, std::string_view holder) override;
  // Takes a block back before the device's stream is done with it. That is safe, because the next user of the block
  // comes behind in the same stream, and nobody lets go of a block that another stream still uses.
  void recycle(buffer* b) noexcept override;
  // The bytes in use now, and the most that were ever in use.
  std::int64_t used() const;
  std::int64_t peak() const;

 private:
  void* fresh_memory(std::size_t size) const;

  guarded_memory& memory_ = guarded_memory::of_sims();
  std::int64_t fail_at_;
  std::shared_ptr<stream> order_;  // lives longer than the device where a tensor of its memory does
  mutable std::mutex mutex_;
  ledger ledger_;
};

// A GPU that does not exist: it answers to /device:GPU:N where a session asked for it, and computes on the host. Its
// copies run in a stream of their own, so that a wait that is missing between the streams is a race. Strings cannot go
// to it: from_host() throws invalid_argument.
class sim_device final : public device {
 public:
  sim_device(const device_spec& spec, const sim::accelerator& like);

  sim_allocator& memory() override { return *memory_; }
  std::int64_t memory_used() override { return memory_->used(); }
  std::int64_t memory_peak() override { return memory_->peak(); }
  devices::stream* stream() override { return stream_.get(); }

  // Waits for the streams, for the callbacks, and again for the stream that fills the blocks which they released.
  ~sim_device() override;

  any_tensor from_host(const any_tensor& value) override;
  any_tensor from_peer(const any_tensor& value, std::shared_ptr<event> ready) override;
  void to_host(const any_tensor& value, completion<any_tensor> done) override;

 private:
  // Copies a tensor of the host, or of a peer that has it at `ready`, into new memory.
  any_tensor take(const any_tensor& value, std::shared_ptr<event> ready);

  const std::shared_ptr<sim_card> card_ = std::make_shared<sim_card>();
  const std::shared_ptr<sim_stream> stream_ = std::make_shared<sim_stream>(card_);
  sim_stream copies_{card_};
  std::shared_ptr<sim_allocator> memory_;
};

}}}  // namespace pinion::v0::devices

#if PINION_HEADER_ONLY
#include <pinion/device/sim.ipp>
#endif
