// A GPU on which tests run elementwise programs.
#pragma once

#include <catch2/catch.hpp>

#include <cstring>
#include <future>
#include <memory>
#include <vector>

#include <pinion/device/cuda/device.hpp>
#include <pinion/opkit/kernel.hpp>

#include "cuda/map_run.hpp"

namespace cuda_tests {

class gpu {
 public:
  gpu() : devices_(cuda::make_devices({}, {}).devices) { REQUIRE(!devices_.empty()); }

  devices::device& device() const { return *devices_[0]; }
  any_tensor here(const any_tensor& value) const {
    std::promise<any_tensor> copied;
    device().to_host(value, [&](outcome<any_tensor> copy) { copied.set_value(copy.value()); });
    return copied.get_future().get();
  }
  // Calls launch(context, addresses) with the operands of a run on the GPU. Operands that share memory do so there.
  template <class Launch>
  void run(const scalar::program& p, const map_run& run, Launch launch) const {
    std::vector<any_tensor> there;
    std::vector<const void*> addresses;
    for (std::size_t k = 0; k < run.operands(); ++k) {
      any_tensor memory = device().from_host(run.memory(k));
      for (std::size_t before = 0; before < k; ++before)
        if (run.memory(before).raw() == run.memory(k).raw()) memory = there[before];
      there.push_back(memory);
      addresses.push_back(memory.byte_data() + run.skipped(k));
    }
    kernel_context c;
    c.device = &device();
    launch(c, addresses);
    for (std::size_t k = p.inputs; k < run.operands(); ++k)
      std::memcpy(run.memory(k).byte_data(), here(there[k]).byte_data(), run.memory(k).bytes());
  }

 private:
  std::vector<std::unique_ptr<devices::device>> devices_;
};

}  // namespace cuda_tests
