// The interface of a device: a name, a memory and perhaps a stream.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/device/product_precision.hpp>
#include <pinion/spec/device_spec.hpp>
#include <pinion/tensor/tensor.hpp>

struct CUstream_st;  // CUDA's headers declare it too: a cudaStream_t is a pointer to one

namespace pinion { inline namespace v0 { namespace devices {

// The code of a device's kernels: functions of the host, or CUDA kernels, which take the stream by its CUDA name.
enum class kernel_code { host, cuda };
using cuda_stream = CUstream_st*;

// A point of one stream for which another stream can wait. Both share it. It is reached at most once.
struct event {
  virtual ~event() = default;
};

// A point of one stream that has a time. Thread-safe.
class mark {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  virtual ~mark() = default;
  // The time at which the stream reached the point, by the host's clock; null before that.
  virtual std::optional<time_point> time() const = 0;
};

// Work of a stream that was recorded. It can be enqueued again and again, as a whole, while the memory that it uses
// stays. Used by one thread at a time.
class recorded_work {
 public:
  virtual ~recorded_work() = default;
  // Adds the work behind the others in its stream.
  virtual void enqueue() = 0;
};

// A queue of work on one device, in order. enqueue() returns at once; the bodies run one after another in the order in
// which they were enqueued. Thread-safe. A body that throws fails the device's streams for good, as a fault of a GPU
// does: bodies that have not begun are skipped, and callbacks and synchronize() get the error from then on.
class stream {
 public:
  virtual ~stream() = default;
  // Adds a body, which is host code, behind the others. Requires: the device's kernels are host code.
  virtual void enqueue(std::function<void()> body) = 0;
  // Calls back when everything enqueued before has run, or was skipped, and tells whether the device has failed.
  // Callbacks of a device run in a thread of their own, those of one stream in the order in which they were given. The
  // stream does not wait for them. So a callback may allocate and free memory, enqueue, and go on with a step; it must
  // not wait for another callback of the device.
  virtual void when_reached(completion<> callback) = 0;
  // record() marks the point behind everything enqueued so far. wait() holds back everything enqueued later until such
  // a point of another stream is reached, of the same kind of device. A stream that fails reaches its points, and only
  // its own callbacks tell the error.
  virtual std::shared_ptr<event> record() = 0;
  virtual void wait(std::shared_ptr<event> point) = 0;
  // Notes the time at which everything enqueued so far has run, or was skipped.
  virtual std::shared_ptr<devices::mark> mark() = 0;
  // Waits until everything enqueued has run, or was skipped; callbacks may come later. Throws the error of a device
  // that has failed.
  virtual void synchronize() = 0;
  // The stream by its CUDA name; null where the device's kernels are host code.
  virtual cuda_stream native() { return nullptr; }
  // Between these two calls, kernels that the calling thread launches by the stream's CUDA name are recorded and not
  // run; other threads go on as ever. begin_recording() returns false on a device that cannot record. end_recording()
  // returns null where something among the work cannot be recorded.
  virtual bool begin_recording() { return false; }
  virtual std::unique_ptr<recorded_work> end_recording() { return nullptr; }
};

// A device of a task. A session or a server owns it, and it outlives the steps that run on it. Its functions are
// thread-safe.
//
// Lifetimes of memory, where there is a stream
//   1. A block of memory() belongs to stream(). Its tensor may be let go while work of that stream is still to use it:
//      the next user of the block comes behind in the same stream.
//   2. Copies may run in other streams, of this device or of a peer. from_host(), from_peer() and to_host() keep the
//      tensor that they read until the copy has ended, and let it go where callbacks run. So a block returns behind
//      every stream that used it.
//   3. A block that a copy fills is not touched by that copy before stream() is done with its former user, and stream()
//      goes on behind the copy.
class device {
 public:
  device(const device_spec& spec, std::int64_t memory_limit, std::string description);
  virtual ~device() = default;

  // The full name as a spec, and as text.
  const device_spec& spec() const { return spec_; }
  const std::string& name() const { return name_; }
  std::string_view type() const { return spec_.type(); }
  // The size of the memory in bytes.
  std::int64_t memory_limit() const { return memory_limit_; }
  // True if an allocation beyond memory_limit() fails; false if that number is nominal.
  virtual bool memory_is_limited() const { return true; }
  // The bytes of the memory in use now, and the most that were ever in use; 0: they are not counted.
  virtual std::int64_t memory_used() { return 0; }
  virtual std::int64_t memory_peak() { return 0; }
  // A line about the hardware; empty for a CPU.
  const std::string& description() const { return description_; }

  // The code that its kernels are. A kernel that launches host code elsewhere is an internal error.
  virtual kernel_code kernels() const { return kernel_code::host; }
  // The allocator of the device's memory.
  virtual allocator& memory() = 0;
  // The stream on which kernels are launched; null if they run in the calling thread.
  virtual devices::stream* stream() { return nullptr; }
  // Copies a host tensor into this device's memory, in the order of the stream. The caller may let go of the host
  // tensor at once. Throws resource_exhausted if there is no memory.
  virtual any_tensor from_host(const any_tensor& value) = 0;
  // Copies a tensor of another device of this task, without a way over the host. `ready` is the point of that device's
  // stream at which the tensor holds its value. Throws internal on a device that does not support it. Requires: both
  // devices have streams.
  virtual any_tensor from_peer(const any_tensor& value, std::shared_ptr<event> ready);
  // Copies a device tensor to the host, and calls `done` with the copy once the stream has reached this point. `done`
  // is called as when_reached() calls back; a device without a stream calls it at once.
  virtual void to_host(const any_tensor& value, completion<any_tensor> done) = 0;
  // The least precision that its kernels of products of floats may have.
  virtual product_precision float_products() const { return product_precision::full; }

 private:
  device_spec spec_;
  std::string name_;
  std::int64_t memory_limit_;
  std::string description_;
};

}}}  // namespace pinion::v0::devices

#if PINION_HEADER_ONLY
#include <pinion/device/device.ipp>
#endif
