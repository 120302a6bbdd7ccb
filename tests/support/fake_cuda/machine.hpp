// All that the stand-in for CUDA knows: its devices and what they hold.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <driver_types.h>

#include "control.hpp"
#include "event.hpp"
#include "graph.hpp"
#include "library.hpp"
#include "memory.hpp"
#include "order.hpp"
#include "stream.hpp"

namespace fake_cuda {

struct device {
  explicit device(int number) : id(number) {}

  const int id;
  std::atomic<bool> has_context = false;              // a thread called CUDA that had it for its device
  std::atomic<cudaError_t> fault = cudaSuccess;       // stays, once it is there
  std::atomic<cudaError_t> next_fault = cudaSuccess;  // that the next kernel leaves
  std::set<int> peers;                                // whose memory its kernels may use
  CUmemPoolHandle_st own_pool{id, 0};
  std::shared_ptr<CUstream_st> default_stream;
};

struct machine {
  settings now;
  std::mutex mutex;  // guards all below but what is atomic; no stream is made or destroyed under it
  std::vector<std::unique_ptr<device>> devices;
  std::map<cudaStream_t, std::shared_ptr<CUstream_st>> streams;
  std::map<cudaEvent_t, std::shared_ptr<CUevent_st>> events;
  std::map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>> pools;
  std::map<cudaLibrary_t, std::unique_ptr<CUlib_st>> libraries;
  std::map<const void*, CUkern_st*> kernels;  // of the libraries, by their handles
  std::map<cudaGraph_t, std::unique_ptr<CUgraph_st>> graphs;
  std::map<cudaGraphExec_t, std::shared_ptr<CUgraphExec_st>> graph_execs;
  address_book memory;
  counts since_reset;  // launches and copies
  int allocations_until_failure = 0;
  std::set<code> refused_code;
  std::atomic<unsigned> streams_ever = 0;
  unsigned resets = 0;
};

// It begins with the settings that are the default, and lives as long as the process.
machine& the_machine();

// The device of the calling thread.
int current_device();
void set_current_device(int id);

// True in a host function, which may not call CUDA.
bool& is_in_host_function();

// The result of a call: an error stays for cudaGetLastError.
cudaError_t result(cudaError_t error);
cudaError_t take_last_error(bool also_forget);

// The result of a call that is misuse.
cudaError_t misuse(cudaError_t error, const std::string& sentence);

// True if kernels of a device, and copies that it does by itself, may use a block.
bool is_reachable(const memory_block& block, const device& from);

// A thread has waited for a device: pools give back what they keep beyond their thresholds.
void trim_pools(int device);

// The error of a call that needs a driver and a device, whatever it does; cudaSuccess if it may go on.
cudaError_t refused();

// A call has a device for its context, which it makes if there is none: the calling thread's, whichever it concerns.
void make_context(int device);

// A call on a device, a stream or an event. `f` gets it, runs without the machine's lock, and returns the error.
template <class F>
cudaError_t on_device(int id, F f) {
  if (const cudaError_t error = refused()) return result(error);
  machine& m = the_machine();
  if (id < 0 || id >= m.now.devices) return result(cudaErrorInvalidDevice);
  make_context(id);
  device& d = *m.devices[static_cast<std::size_t>(id)];
  if (const cudaError_t fault = d.fault) return result(fault);
  return result(f(d));
}

// A task that is given to the stream uses an address: a graph into which the stream is captured remembers it. Requires:
// the machine's lock.
void note_address(CUstream_st& stream, const void* address);

// The error of a call that no capture allows which the calling thread could hinder; cudaSuccess if there is none.
cudaError_t refused_by_capture();

// The error of a call that would wait for a stream, which spoils its capture; cudaSuccess if it is not captured.
cudaError_t refused_by_capture(CUstream_st& stream);

// Null if there is no such stream, or event.
std::shared_ptr<CUstream_st> find(cudaStream_t handle);
std::shared_ptr<CUevent_st> find(cudaEvent_t handle);

template <class F>
cudaError_t on_stream(cudaStream_t handle, F f) {
  if (const cudaError_t error = refused()) return result(error);
  make_context(current_device());
  const std::shared_ptr<CUstream_st> stream = find(handle);
  if (!stream) return misuse(cudaErrorInvalidResourceHandle, "a stream is used that is destroyed, or never was");
  if (const cudaError_t fault = stream->on().fault) return result(fault);
  return result(f(*stream));
}

template <class F>
cudaError_t on_event(cudaEvent_t handle, F f) {
  if (const cudaError_t error = refused()) return result(error);
  make_context(current_device());
  const std::shared_ptr<CUevent_st> event = find(handle);
  if (!event) return misuse(cudaErrorInvalidResourceHandle, "an event is used that is destroyed, or never was");
  if (const cudaError_t fault = the_machine().devices[static_cast<std::size_t>(event->device)]->fault)
    return result(fault);
  return result(f(event));
}

}  // namespace fake_cuda
