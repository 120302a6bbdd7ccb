// The kernels at both ends of a value's way from one device to another. Partitioning inserts them, with a key.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <pinion/device/pool_allocator.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/tensor/bfloat16.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Copies of a value that goes as bfloat16, for its way and behind it. The first throws invalid_argument for a value
// that is not of floats; the second requires a value of bfloat16.
inline any_tensor narrowed(const any_tensor& value) {
  if (value.dtype() != dtype::float32)
    throw error(errc::invalid_argument,
                "a value of " + std::string(to_string(value.dtype())) + " was to go as bfloat16, as floats do alone");
  const any_tensor made(dtype::bfloat16, value.shape(), devices::pool_allocator::of_cpus());
  const auto count = static_cast<std::size_t>(value.count());
  to_bfloat16({value.data<float>(), count}, {static_cast<std::uint16_t*>(made.raw()), count});
  return made;
}
inline any_tensor widened(const any_tensor& value) {
  const any_tensor made(dtype::float32, value.shape(), devices::pool_allocator::of_cpus());
  const auto count = static_cast<std::size_t>(value.count());
  from_bfloat16({static_cast<const std::uint16_t*>(value.raw()), count}, {made.data<float>(), count});
  return made;
}

}  // namespace detail

// Sends its input to the step's rendezvous, or a bare signal when it has none. A narrow one sends floats as bfloat16.
class send_kernel final : public kernel {
 public:
  enum way {
    host,    // the value is in host memory
    staged,  // it is copied to the host first, in stream order; no thread waits
    peer,    // another accelerator of this task fetches it when the stream has reached it
  };

  send_kernel(transfer_key key, way by, bool narrow) : key_(std::move(key)), way_(by), narrow_(narrow) {}
  bool blocking() const override { return way_ == staged; }
  bool expensive() const override { return narrow_; }

  void run(kernel_context& c) override {
    handed_over out;
    if (!c.inputs.empty()) out.value = on_its_way(std::move(c.inputs[0]));
    if (way_ == peer) out.ready = c.device->stream()->record();
    c.rendezvous->send(key_, std::move(out));
  }
  void start(kernel_context& c, ended done) override {
    auto send = [this, meet = c.rendezvous, done = std::move(done)](outcome<any_tensor> copied) {
      done(std::move(copied).then([&](any_tensor value) { meet->send(key_, {on_its_way(std::move(value))}); }));
    };
    if (c.inputs.empty())
      c.device->stream()->when_reached(
          [send = std::move(send)](outcome<> reached) { send(std::move(reached).then([] { return any_tensor(); })); });
    else
      c.device->to_host(c.inputs[0], std::move(send));
  }

 private:
  any_tensor on_its_way(any_tensor value) const {
    return narrow_ && value ? detail::narrowed(value) : std::move(value);
  }

  transfer_key key_;
  way way_;
  bool narrow_;
};

// Waits for the value without holding a thread, and puts it into this device's memory. An aborted rendezvous ends it. A
// narrow one gets floats as bfloat16.
class receive_kernel final : public kernel {
 public:
  // `expected` is the value's type in the graph, which is float for a narrow one; without it the kernel expects a bare
  // signal.
  receive_kernel(transfer_key key, std::optional<output_type> expected, bool narrow)
      : key_(std::move(key)), expected_(std::move(expected)), narrow_(narrow) {
    if (narrow_) expected_->dtype = dtype::bfloat16;
  }
  bool blocking() const override { return true; }

  void run(kernel_context&) override { throw error(errc::internal, "a receive was run instead of started"); }
  void start(kernel_context& c, ended done) override {
    c.rendezvous->receive(key_, [this, &c, done = std::move(done)](outcome<handed_over> received) {
      done(std::move(received).then([&](handed_over in) { take(c, std::move(in)); }));
    });
  }

 private:
  void take(kernel_context& c, handed_over in) const {
    check(in.value);
    if (narrow_) in.value = detail::widened(in.value);
    if (in.ready)
      c.outputs[0] = c.device->from_peer(in.value, std::move(in.ready));
    else if (in.value)
      c.outputs[0] = c.device->from_host(in.value);
    if (c.outputs[0]) c.outputs[0].held_by(c.node->name);
  }
  // Checks the type of the value, since another task may send anything.
  void check(const any_tensor& value) const {
    if (!expected_ && value.empty()) return;
    if (expected_ && !value.empty() && value.dtype() == expected_->dtype && fits(value.shape(), expected_->shape))
      return;
    throw error(
        errc::data_loss,
        "the value received as '" + key_.text() + "' is " +
            (value.empty() ? "empty" : std::string(to_string(value.dtype())) + " " + to_string(value.shape())) +
            ", not " +
            (expected_ ? std::string(to_string(expected_->dtype)) + " " + to_string(expected_->shape) : "empty"));
  }

  transfer_key key_;
  std::optional<output_type> expected_;
  bool narrow_;
};

}}}  // namespace pinion::v0::op
