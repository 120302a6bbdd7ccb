// The part of a machine's GPUs that a program uses: which of them, and how much of their memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/device/accelerator.hpp>

namespace pinion { inline namespace v0 {

// Options of a session about GPUs. A value.
//
//   pn::session sess{{.gpu = {.per_process_memory_fraction = .4, .visible_devices = "1,0"}}};
//
// The names are TensorFlow's (tf.GPUOptions). They hold for a session of this process, not for one on a cluster.
struct gpu_options {
  // The part of each GPU's memory that the program takes, in [0, 1]; 0: as much as there is.
  double per_process_memory_fraction = 0;
  // true: takes memory as it is needed. Simulated GPUs always do.
  bool allow_growth = false;
  // The numbers of the GPUs to use: with "1,0", /gpu:0 is GPU 1 of the machine and /gpu:1 is GPU 0. Empty: all of them.
  std::string visible_devices = {};
};

namespace sim {

// The numbers of a list such as "1,0". Throws invalid_argument if an entry is not a number, is not below `count`, or
// occurs twice.
std::vector<std::size_t> visible_numbers(std::string_view list, std::size_t count);

// The accelerators of a machine as one program sees them: the GPUs that it asks for, in its order and with its part of
// their memory, and then the other accelerators. On a machine without GPUs the options have no effect. Throws
// invalid_argument for a list that names GPUs which do not exist, and for a fraction outside of [0, 1].
std::vector<accelerator> visible(const std::vector<accelerator>& machine, const gpu_options& o);

}  // namespace sim
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/device/gpu_options.ipp>
#endif
