// The part of a machine's GPUs that a program uses: which of them, and how much of their memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/device/accelerator.hpp>
#include <pinion/device/product_precision.hpp>

namespace pinion { inline namespace v0 {

// Options of a session or of a server about GPUs. A value.
//
//   pn::session sess{{.gpu = {.per_process_memory_fraction = .4, .visible_devices = "1,0"}}};
//
// The names are TensorFlow's (tf.GPUOptions). A session's hold for devices of this process; the tasks of a cluster have
// their own (server_config).
struct gpu_options {
  // The part of each GPU's memory that the program takes, in [0, 1]; 0: as much as there is, as it is needed.
  double per_process_memory_fraction = 0;
  // false: the first use of a GPU takes its whole part, if a fraction is given, and fails with resource_exhausted where
  // that is not free. true: takes memory as it is needed. Simulated GPUs always do.
  bool allow_growth = false;
  // The numbers of the GPUs to use: with "1,0", /gpu:0 is GPU 1 of the machine and /gpu:1 is GPU 0. Empty: all of them.
  std::string visible_devices = {};
  // The devices that each of these GPUs counts as, which divide its memory: 2 makes /gpu:0 and /gpu:1 of one GPU.
  int virtual_devices = 1;
  // The precision of matrix products and convolutions of floats, and of their gradients. What is less than full makes
  // them several times faster on GPUs that have tensor cores, where cuBLASLt and cuDNN compute them; cuDNN takes
  // bfloat16 as tensor_float_32. It has no effect on doubles, without these libraries, on simulated GPUs and on CPUs.
  // TensorFlow: tf.config.experimental.enable_tensor_float_32_execution, which is on there.
  product_precision float_products = product_precision::full;
};

namespace devices {

// The numbers of a list such as "1,0". Throws invalid_argument if an entry is not a number, is not below `count`, or
// occurs twice.
std::vector<std::size_t> visible_numbers(std::string_view list, std::size_t count);

// A device /gpu:N: the number of its GPU, and its part of that GPU's memory.
struct gpu_share {
  std::size_t number;
  double part;

  std::int64_t of(std::int64_t memory) const { return static_cast<std::int64_t>(part * static_cast<double>(memory)); }
};
// The devices /gpu:0, /gpu:1, ... of a machine with so many GPUs. On a machine without GPUs the options have no effect.
// Throws invalid_argument for a list that names GPUs which do not exist, for a fraction outside of [0, 1], and for
// fewer virtual devices than one.
std::vector<gpu_share> chosen_gpus(const gpu_options& o, std::size_t count);

}  // namespace devices

namespace sim {

// The accelerators of a machine as one program sees them: the GPUs that it asks for, in its order and with its part of
// their memory, and then the other accelerators. Throws as devices::chosen_gpus() does.
std::vector<accelerator> visible(const std::vector<accelerator>& machine, const gpu_options& o);

}  // namespace sim
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/device/gpu_options.ipp>
#endif
