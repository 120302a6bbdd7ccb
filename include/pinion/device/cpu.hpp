// The CPU as a device: its memory is a pool on the host, and its kernels run in the calling thread.
#pragma once

#include <string>

#include <pinion/device/device.hpp>
#include <pinion/device/pool_allocator.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// One of the CPU devices of a task. All of them share the memory and the cores of the machine; several exist so that a
// placement over devices can be seen. Its functions are thread-safe.
class cpu_device final : public device {
 public:
  bool memory_is_limited() const override { return false; }
  // The size of its memory as TensorFlow reports it. It limits nothing.
  static constexpr std::int64_t nominal_memory = std::int64_t{256} << 20;

  explicit cpu_device(const device_spec& spec) : device(spec, nominal_memory, "") {}

  allocator& memory() override { return pool_allocator::of_cpus(); }
  std::int64_t memory_used() override { return pool_allocator::of_cpus().held(); }
  any_tensor from_host(const any_tensor& value) override { return value; }
  void to_host(const any_tensor& value, completion<any_tensor> done) override { done(value); }
};

}}}  // namespace pinion::v0::devices
