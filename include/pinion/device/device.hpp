// The interface of what computes: a name, a memory, and perhaps a stream.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/spec/device_spec.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// A point of one stream that another can wait for. Shared by both; reached at most once.
class event {
 public:
  virtual ~event() = default;
};

// An ordered queue of work on one device. enqueue() returns at once; bodies run one after the other, in the order in
// which they were enqueued. Thread-safe. A body that throws fails the stream: later bodies are skipped until a
// callback was handed the error.
class stream {
 public:
  virtual ~stream() = default;
  virtual void enqueue(std::function<void()> body) = 0;
  // Calls back, in a thread of the stream, when it has reached this point; with the error it failed by, if it has.
  virtual void when_reached(std::function<void(const error*)> callback) = 0;
  // The point behind what is enqueued so far; and holding back what is enqueued next until such a point of another
  // stream of the same kind of device is reached. If that stream failed, so does this one.
  virtual std::shared_ptr<event> record() = 0;
  virtual void wait(std::shared_ptr<event> point) = 0;
  virtual void synchronize() = 0;  // waits until everything enqueued is done; throws what a body threw
};

// Owned by a session or a server; outlives the steps that run on it. Its functions are thread-safe.
class device {
 public:
  device(const device_spec& spec, std::int64_t memory_limit, std::string description);
  virtual ~device() = default;

  const device_spec& spec() const { return spec_; }
  const std::string& name() const { return name_; }
  std::string_view type() const { return spec_.type(); }
  std::int64_t memory_limit() const { return memory_limit_; }
  // Does an allocation beyond memory_limit() fail, or is that a nominal figure?
  virtual bool memory_is_limited() const { return true; }
  const std::string& description() const { return description_; }  // empty for a CPU

  virtual allocator& memory() = 0;
  // Where kernels are launched; null where they run in the calling thread.
  virtual devices::stream* stream() { return nullptr; }
  // A copy of a host tensor in this device's memory, in stream order. The host tensor may be let go at once.
  virtual any_tensor from_host(const any_tensor& value) = 0;
  // A copy of a tensor of another device of this task that has a stream, without a way over the host; `ready` is the
  // point at which the tensor holds its value. Requires: a stream.
  virtual any_tensor from_peer(const any_tensor& value, std::shared_ptr<event> ready);
  // A copy of a device tensor on the host, handed over once the stream has reached this point.
  virtual void to_host(const any_tensor& value, std::function<void(any_tensor, const error*)> done) = 0;

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
