// The GPUs of this machine that the workers of the example's cluster share.
#pragma once

#include <string>

#include <pinion/distributed.hpp>

#include "member.hpp"

struct shared_gpus {
  int count = 0;           // 0: the workers compute on CPUs
  bool simulated = false;  // GPUs that do not exist, and compute on the host

  // The device of a worker's model.
  std::string device(const member& me) const { return me.device() + (count > 0 ? "/gpu:0" : "/cpu:0"); }

  // The workers take the GPUs in turn. Those that meet on one divide its memory, less a tenth for CUDA itself; each
  // takes of its part what it needs. A worker sees no other GPU, so it calls its own /gpu:0.
  pinion::server_config part_of(const member& me) const {
    if (count == 0) return {};
    const int number = me.task % count, sharing = (me.workers() - 1 - number) / count + 1;
    pinion::server_config part{.gpu = {.per_process_memory_fraction = .9 / sharing,
                                       .allow_growth = true,
                                       .visible_devices = std::to_string(number)}};
    if (simulated) part.simulated.assign(static_cast<std::size_t>(count), pinion::sim::gpu());
    return part;
  }
};
