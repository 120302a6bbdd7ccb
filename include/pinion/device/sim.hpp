// A simulated accelerator: memory with a limit, an ordered stream on a thread, and the kernel list of a GPU.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <pinion/base/config.hpp>
#include <pinion/device/accelerator.hpp>
#include <pinion/device/device.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// An event of a simulated stream. Thread-safe.
class sim_event final : public event {
 public:
  // Marks the point as reached, and tells whether the stream has failed there.
  void reach(outcome<> how);
  // Blocks until the point is reached. Throws the error with which the stream had failed there.
  void await();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
  outcome<> how_;
};

// A stream on a thread of its own, which it owns. Its destructor runs what is queued and joins the thread.
class sim_stream final : public stream {
 public:
  sim_stream() : thread_([this] { work(); }) {}
  ~sim_stream() override;

  void enqueue(std::function<void()> body) override { push({std::move(body), {}, {}}); }
  void when_reached(completion<> callback) override { push({{}, std::move(callback), {}}); }
  std::shared_ptr<event> record() override;
  void wait(std::shared_ptr<event> point) override;
  void synchronize() override;

 private:
  struct entry {
    std::function<void()> body;
    completion<> callback;
    std::shared_ptr<sim_event> point;
  };

  void push(entry e);
  // Runs an entry. A failed stream stays failed until a callback has received the error; the next step then starts
  // afresh.
  void run(entry& e);
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<entry> queue_;
  bool stopping_ = false;
  outcome<> so_far_;  // of the bodies since the last callback; touched only by the stream's thread
  std::thread thread_;
};

// Allocates memory that counts against a limit. New blocks are filled with 0xA5 and returned ones with 0xDD, in the
// order of the stream, so that a read before a write, or after a release, is noticed. Thread-safe. allocate() throws
// resource_exhausted beyond the limit, and at the allocation that is to fail.
class sim_allocator final : public allocator {
 public:
  sim_allocator(std::string name, const sim::accelerator& like, std::shared_ptr<stream> order)
      : name_(std::move(name)), limit_(like.memory_limit), fail_at_(like.fail_allocation), order_(std::move(order)) {}
  // Ends the stream first: where a tensor was the last to keep this allocator alive, the stream may still be filling a
  // block.
  ~sim_allocator() override;

  bool is_host() const override { return false; }
  buffer* allocate(std::size_t bytes) override;
  // Takes a block back before the stream is done with it. That is safe, because the next user of the block comes behind
  // in the same stream.
  void recycle(buffer* b) noexcept override;
  // The bytes in use now, and the most that were ever in use.
  std::int64_t used() const;
  std::int64_t peak() const;

 private:
  buffer* take(std::size_t size, std::size_t asked);
  buffer* block(std::size_t size);
  static void destroy(buffer* b);

  const std::string name_;
  const std::int64_t limit_;
  std::int64_t fail_at_;
  std::shared_ptr<stream> order_;  // lives longer than the device where a tensor of its memory does
  mutable std::mutex mutex_;
  std::int64_t used_ = 0, peak_ = 0;
  std::multimap<std::size_t, buffer*> idle_;
};

// A GPU that does not exist: it answers to /device:GPU:N where a session asked for it, and computes on the host.
// Strings cannot go to it: from_host() throws invalid_argument.
class sim_device final : public device {
 public:
  sim_device(const device_spec& spec, const sim::accelerator& like);

  sim_allocator& memory() override { return *memory_; }
  devices::stream* stream() override { return stream_.get(); }

  // Waits for the stream twice: once for its bodies, which release blocks when they end, and once for the filling of
  // these blocks.
  ~sim_device() override;

  // Reads the host tensor when the stream gets there, and keeps it alive until then.
  any_tensor from_host(const any_tensor& value) override;
  any_tensor from_peer(const any_tensor& value, std::shared_ptr<event> ready) override;
  void to_host(const any_tensor& value, completion<any_tensor> done) override;

 private:
  const std::shared_ptr<sim_stream> stream_ = std::make_shared<sim_stream>();
  std::shared_ptr<sim_allocator> memory_;
};

}}}  // namespace pinion::v0::devices

#if PINION_HEADER_ONLY
#include <pinion/device/sim.ipp>
#endif
