// What tests ask of the stand-in for CUDA, and what they learn from it. A program that is linked with it instead of
// cudart_static has GPUs whose streams are threads of this process and whose memory is its own.
#pragma once

#include <driver_types.h>

#include <cstddef>

#include "grid.hpp"
#include "misuse.hpp"

namespace fake_cuda {

enum class driver {
  present,
  missing,         // no driver is installed
  old,             // one that is older than the runtime
  without_devices  // a driver that finds no GPU
};

struct settings {
  int devices = 1;
  std::size_t memory = std::size_t{256} << 20;  // of each device, in bytes
  bool has_peer_access = true;                  // between all devices
  driver is = driver::present;
  unsigned jitter_us;  // the longest pause of a stream before a task; PINION_FAKE_JITTER_US, or 0
  unsigned seed;       // of the pauses; PINION_FAKE_SEED, or 1
  thread_order order;  // forward, unless PINION_FAKE_ORDER is "backward"

  settings();
};

// Waits for all streams, destroys all that CUDA still holds except for libraries, which belong to no device, forgets
// faults and misuses, and begins anew. Requires: no
// other thread calls CUDA, and nobody uses what CUDA gave before.
void reset(const settings& now = {});

// The next kernel that runs on a device leaves it with an error that stays: behind it no task of the device's streams
// runs, no host function is called, and every call returns the error.
void fault_next_launch(int device, cudaError_t error);

// Code that the devices do not take until the next reset: that of .cu units, or PTX that the program loads.
enum class code { of_units, that_is_loaded };
void refuse(code which);

// The n-th allocation of device memory or of pinned memory from now on finds no room.
void fail_allocation(int n);

struct counts {
  int device_blocks = 0, pinned_blocks = 0, streams = 0, events = 0, pools = 0, libraries = 0, graphs = 0;  // live ones
  int contexts = 0;               // devices that have one
  std::size_t device_bytes = 0;   // in live blocks
  long launches = 0, copies = 0;  // since the reset
  long staged_copies = 0;         // of the copies, those between devices that went over the host
};
counts count();

}  // namespace fake_cuda
