// The two ends of a value's way from one device to another: kernels that a partition puts in, by key.
#pragma once

#include <string>
#include <utility>

#include <pinion/op/kernel.hpp>

namespace pinion::inline v0::op {

// Hands its input, or a bare signal when it has none, to the step's rendezvous. From a device with a stream the value is
// first brought to the host, in stream order, and no thread waits for that.
class send_kernel final : public kernel {
 public:
  send_kernel(std::string key, bool streams) : key_(std::move(key)), streams_(streams) {}
  bool blocking() const override { return streams_; }

  void run(kernel_context& c) override {
    c.rendezvous->send(key_, c.inputs.empty() ? any_tensor() : std::move(c.inputs[0]));
  }
  void start(kernel_context& c, std::function<void(const error*)> done) override {
    const auto sent = [this, meet = c.rendezvous, done = std::move(done)](any_tensor value, const error* failed) {
      if (!failed) meet->send(key_, std::move(value));
      done(failed);
    };
    if (c.inputs.empty()) c.device->stream()->when_reached([sent](const error* failed) { sent({}, failed); });
    else c.device->to_host(c.inputs[0], sent);
  }

 private:
  std::string key_;
  bool streams_;
};

// Waits for the value without holding a thread, and puts it into this device's memory. An aborted rendezvous wakes it.
class receive_kernel final : public kernel {
 public:
  explicit receive_kernel(std::string key) : key_(std::move(key)) {}
  bool blocking() const override { return true; }

  void run(kernel_context&) override { throw error(errc::internal, "a receive was run instead of started"); }
  void start(kernel_context& c, std::function<void(const error*)> done) override {
    c.rendezvous->receive(key_, [&c, done = std::move(done)](any_tensor value, const error* failed) {
      if (failed) return done(failed);
      try {
        if (value) c.outputs[0] = c.device->from_host(value);
      } catch (const error& e) {
        return done(&e);
      }
      done(nullptr);
    });
  }

 private:
  std::string key_;
};

}  // namespace pinion::inline v0::op
