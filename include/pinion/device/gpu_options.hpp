// What a program takes of the GPUs of its machine: which of them, and how much of their memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/device/accelerator.hpp>

namespace pinion { inline namespace v0 {

struct gpu_options {
  double per_process_memory_fraction = 0;  // of the memory of each GPU; 0: as much as there is
  bool allow_growth = false;               // take it as it is needed, which simulated GPUs always do
  std::string visible_devices = {};        // "1,0": /gpu:0 is GPU 1 of the machine, /gpu:1 is GPU 0; empty: all
};

namespace sim {

// The numbers of "1,0"; throws invalid_argument where one is no number, is not below `count`, or stands there twice.
std::vector<std::size_t> visible_numbers(std::string_view list, std::size_t count);

// The accelerators of a machine as one program sees them: of the GPUs those that it wants, in its order, with the
// memory that it takes; others as they are. On a machine without GPUs the options mean nothing. Throws
// invalid_argument for a list that the machine does not meet, and for a fraction that is not within [0, 1].
std::vector<accelerator> visible(const std::vector<accelerator>& machine, const gpu_options& o);

}  // namespace sim
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/device/gpu_options.ipp>
#endif
