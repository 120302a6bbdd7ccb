// The kernels at both ends of a value's way from one device to another. Partitioning inserts them, with a key.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Sends its input to the step's rendezvous, or a bare signal when it has none.
class send_kernel final : public kernel {
 public:
  enum way {
    host,    // the value is in host memory
    staged,  // it is copied to the host first, in stream order; no thread waits
    peer,    // another accelerator of this task fetches it when the stream has reached it
  };

  send_kernel(std::string key, way by) : key_(std::move(key)), way_(by) {}
  bool blocking() const override { return way_ == staged; }

  void run(kernel_context& c) override {
    handed_over out;
    if (!c.inputs.empty()) out.value = std::move(c.inputs[0]);
    if (way_ == peer) out.ready = c.device->stream()->record();
    c.rendezvous->send(key_, std::move(out));
  }
  void start(kernel_context& c, std::function<void(const error*)> done) override {
    const auto sent = [this, meet = c.rendezvous, done = std::move(done)](any_tensor value, const error* failed) {
      if (!failed) meet->send(key_, {std::move(value)});
      done(failed);
    };
    if (c.inputs.empty())
      c.device->stream()->when_reached([sent](const error* failed) { sent({}, failed); });
    else
      c.device->to_host(c.inputs[0], sent);
  }

 private:
  std::string key_;
  way way_;
};

// Waits for the value without holding a thread, and puts it into this device's memory. An aborted rendezvous ends it.
class receive_kernel final : public kernel {
 public:
  // `expected` is the value's type in the graph; without it the kernel expects a bare signal.
  receive_kernel(std::string key, std::optional<output_type> expected)
      : key_(std::move(key)), expected_(std::move(expected)) {}
  bool blocking() const override { return true; }

  void run(kernel_context&) override { throw error(errc::internal, "a receive was run instead of started"); }
  void start(kernel_context& c, std::function<void(const error*)> done) override {
    c.rendezvous->receive(key_, [this, &c, done = std::move(done)](handed_over in, const error* failed) {
      if (failed) return done(failed);
      try {
        check(in.value);
        if (in.ready)
          c.outputs[0] = c.device->from_peer(in.value, std::move(in.ready));
        else if (in.value)
          c.outputs[0] = c.device->from_host(in.value);
      } catch (...) {  // the sender's thread: nothing may escape
        const error e = current_error();
        return done(&e);
      }
      done(nullptr);
    });
  }

 private:
  // Checks the type of the value, since another task may send anything.
  void check(const any_tensor& value) const {
    if (!expected_ && value.empty()) return;
    if (expected_ && !value.empty() && value.dtype() == expected_->dtype && fits(value.shape(), expected_->shape))
      return;
    throw error(
        errc::data_loss,
        "the value received as '" + key_ + "' is " +
            (value.empty() ? "empty" : std::string(to_string(value.dtype())) + " " + to_string(value.shape())) +
            ", not " +
            (expected_ ? std::string(to_string(expected_->dtype)) + " " + to_string(expected_->shape) : "empty"));
  }

  std::string key_;
  std::optional<output_type> expected_;
};

}}}  // namespace pinion::v0::op
