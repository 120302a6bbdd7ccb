// The stand-in for CUDA: devices.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

#include "machine.hpp"

using namespace fake_cuda;

namespace {

constexpr int processors = 4, compute_capability = 90;

std::string bus_id(int device) {
  return "0000:0" + std::to_string(device + 1) + ":00.0";
}

// A call that names a device and needs none of its memory.
template <class F>
cudaError_t about_device(int id, F f) {
  if (const cudaError_t error = refused()) return result(error);
  if (id < 0 || id >= the_machine().now.devices) return result(cudaErrorInvalidDevice);
  return result(f());
}

int attribute(cudaDeviceAttr which, int device) {
  switch (which) {
    case cudaDevAttrComputeCapabilityMajor: return compute_capability / 10;
    case cudaDevAttrComputeCapabilityMinor: return compute_capability % 10;
    case cudaDevAttrMultiProcessorCount: return processors;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX: return 1024;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return 2048;
    case cudaDevAttrMaxGridDimX: return 0x7fffffff;
    case cudaDevAttrMaxSharedMemoryPerBlock: return 48 << 10;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return 227 << 10;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrClockRate: return 1000000;
    case cudaDevAttrL2CacheSize: return 1 << 20;
    case cudaDevAttrPciBusId: return device + 1;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrConcurrentKernels: return 1;
    case cudaDevAttrAsyncEngineCount: return 2;
    default: return 0;
  }
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  if (const cudaError_t error = refused()) return result(error);
  *count = the_machine().now.devices;
  return result(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version) {
  const driver is = the_machine().now.is;
  *version = is == driver::missing ? 0 : is == driver::old ? 11040 : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* all, int device) {
  return about_device(device, [&] {
    *all = {};
    std::snprintf(all->name, sizeof all->name, "stand-in for a GPU");
    std::memset(all->uuid.bytes, device + 1, sizeof all->uuid.bytes);
    all->totalGlobalMem = the_machine().now.memory;
    all->sharedMemPerBlock = 48 << 10;
    all->warpSize = 32;
    all->maxThreadsPerBlock = 1024;
    all->major = compute_capability / 10, all->minor = compute_capability % 10;
    all->multiProcessorCount = processors;
    all->maxThreadsPerMultiProcessor = 2048;
    all->l2CacheSize = 1 << 20;
    all->pciBusID = device + 1;
    all->asyncEngineCount = 2;
    all->unifiedAddressing = all->memoryPoolsSupported = all->concurrentKernels = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  return about_device(device, [&] {
    *value = attribute(which, device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int device) {
  return about_device(device, [&] {
    std::snprintf(id, static_cast<std::size_t>(size), "%s", bus_id(device).c_str());
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return about_device(device, [&] {
    set_current_device(device);
    make_context(device);
    return the_machine().devices[static_cast<std::size_t>(device)]->fault.load();
  });
}

cudaError_t cudaGetDevice(int* device) {
  return about_device(current_device(), [&] {
    *device = current_device();
    return cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return on_device(device, [](fake_cuda::device&) { return cudaSuccess; });
}

cudaError_t cudaDeviceSynchronize() {
  return on_device(current_device(), [](fake_cuda::device& d) {
    if (const cudaError_t error = refused_by_capture()) return error;
    std::vector<std::shared_ptr<CUstream_st>> streams;
    {
      own_lock lock(the_machine().mutex);
      if (d.default_stream) streams.push_back(d.default_stream);
      for (const auto& [unused, stream] : the_machine().streams)
        if (&stream->on() == &d) streams.push_back(stream);
    }
    for (const auto& stream : streams) stream->wait_for_all();
    trim_pools(d.id);
    return d.fault.load();
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return about_device(device, [&] {
    if (peer < 0 || peer >= the_machine().now.devices) return cudaErrorInvalidDevice;
    *can = device != peer && the_machine().now.has_peer_access;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return on_device(current_device(), [&](fake_cuda::device& d) {
    if (peer < 0 || peer >= the_machine().now.devices || peer == d.id) return cudaErrorInvalidDevice;
    if (flags != 0) return cudaErrorInvalidValue;
    if (!the_machine().now.has_peer_access) return cudaErrorPeerAccessUnsupported;
    own_lock lock(the_machine().mutex);
    return d.peers.insert(peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return on_device(current_device(), [&](fake_cuda::device& d) {
    own_lock lock(the_machine().mutex);
    return d.peers.erase(peer) == 1 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}
