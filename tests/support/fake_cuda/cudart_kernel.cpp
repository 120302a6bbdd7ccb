// The stand-in for CUDA: kernels and their launches.
#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "grid.hpp"
#include "library.hpp"
#include "machine.hpp"
#include "misuse.hpp"
#include "words.hpp"

using namespace fake_cuda;

namespace {

// True if a kernel on a stream may be given an address; reports why not. Requires: the machine's lock.
bool may_use(const void* address, CUstream_st& stream, bool may_be_a_number) {
  const device& on = stream.on();
  const memory_block* const block = the_machine().memory.find(address);
  if (block ? block->at + block->size == address : !address || may_be_a_number) return true;
  if (!block || block->is_freed)
    report("a kernel is given " + describe(block, address));
  else if (!is_reachable(*block, on))
    report("a kernel on device " + std::to_string(on.id) + ", which has no access to it, is given " +
           describe(block, address));
  else
    return note_address(stream, address), true;
  return false;
}

cudaError_t error_of(const cudaLaunchConfig_t& how, const device& on) {
  const dim3 &grid = how.gridDim, &block = how.blockDim;
  if (grid.x == 0 || block.x == 0 || grid.x > 0x7fffffff || block.x > 1024) return cudaErrorInvalidConfiguration;
  if (grid.y != 1 || grid.z != 1 || block.y != 1 || block.z != 1 || how.dynamicSmemBytes != 0)
    return misuse(cudaErrorNotSupported, "the stand-in knows grids of one dimension, and no dynamic shared memory");
  if (on.id != current_device())
    return misuse(cudaErrorInvalidResourceHandle, "a kernel is launched on a stream of device " +
                                                      std::to_string(on.id) + " by a thread whose device is " +
                                                      std::to_string(current_device()));
  return cudaSuccess;
}

// Puts a grid into a stream, or gives the error of the launch.
cudaError_t push(const cudaLaunchConfig_t& how, CUstream_st& stream, std::function<variables()> variables_of_unit,
                 std::function<void()> thread) {
  if (const cudaError_t error = error_of(how, stream.on())) return error;
  {
    own_lock lock(the_machine().mutex);
    ++the_machine().since_reset.launches;
  }
  const grid work{{how.gridDim.x, 1, 1}, {how.blockDim.x, 1, 1}, std::move(variables_of_unit), std::move(thread)};
  stream.push({[work, &on = stream.on()] {
    if (const cudaError_t fault = on.next_fault.exchange(cudaSuccess))
      on.fault = fault;
    else
      run(work, the_machine().now.order);
  }});
  return cudaSuccess;
}

bool is_refused(code which) {
  own_lock lock(the_machine().mutex);
  return the_machine().refused_code.contains(which);
}

}  // namespace

namespace fake_cuda {

cudaError_t launch(const cudaLaunchConfig_t& how, std::function<void()> thread,
                   const std::vector<const void*>& addresses) {
  return on_stream(how.stream, [&](CUstream_st& stream) {
    {
      own_lock lock(the_machine().mutex);
      for (const void* const address : addresses)
        if (!may_use(address, stream, false)) return cudaErrorInvalidValue;
    }
    return push(how, stream, own_variables, std::move(thread));
  });
}

}  // namespace fake_cuda

// Kernels of libraries have one argument, which is copied at the call.
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* handle, void** arguments) {
  return on_stream(how->stream, [&](CUstream_st& stream) {
    CUkern_st kernel;
    {
      own_lock lock(the_machine().mutex);
      const auto found = the_machine().kernels.find(handle);
      if (found == the_machine().kernels.end())
        return misuse(cudaErrorInvalidDeviceFunction, "a kernel is launched that no library gave");
      kernel = *found->second;
      const auto* const bytes = static_cast<const std::byte*>(arguments[0]);
      for (std::size_t k = 0; k + sizeof(void*) <= kernel.argument_size; k += sizeof(void*)) {
        const void* word = nullptr;
        std::memcpy(&word, bytes + k, sizeof word);
        if (!may_use(word, stream, true)) return cudaErrorInvalidValue;
      }
    }
    const auto words = (kernel.argument_size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
    const std::shared_ptr<std::max_align_t[]> argument(new std::max_align_t[words]);
    std::memcpy(argument.get(), arguments[0], kernel.argument_size);
    return push(*how, stream, kernel.variables_of_unit, [=] { kernel.thread(argument.get()); });
  });
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* image, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  return on_device(current_device(), [&](device&) {
    if (is_refused(code::that_is_loaded)) return cudaErrorUnsupportedPtxVersion;
    try {
      auto made = std::make_unique<CUlib_st>(image);
      *library = made.get();
      own_lock lock(the_machine().mutex);
      the_machine().libraries.emplace(*library, std::move(made));
      return cudaSuccess;
    } catch (const std::runtime_error&) {
      return cudaErrorInvalidKernelImage;
    }
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle, const char* name) {
  return on_device(current_device(), [&](device&) {
    machine& m = the_machine();
    own_lock lock(m.mutex);
    const auto found = m.libraries.find(handle);
    if (found == m.libraries.end()) return misuse(cudaErrorInvalidResourceHandle, "a library is used that is unloaded");
    *kernel = found->second->kernel(name);
    if (!*kernel) return cudaErrorSymbolNotFound;
    m.kernels.emplace(*kernel, *kernel);
    return cudaSuccess;
  });
}

// Kernels that stand in streams keep their code.
cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  return on_device(current_device(), [&](device&) {
    machine& m = the_machine();
    own_lock lock(m.mutex);
    const auto found = m.libraries.find(handle);
    if (found == m.libraries.end())
      return misuse(cudaErrorInvalidResourceHandle, "a library is unloaded that is unloaded already, or never was");
    std::erase_if(m.kernels, [&](const auto& kernel) { return found->second->has(kernel.second); });
    m.libraries.erase(found);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* facts, const void*) {
  return on_device(current_device(), [&](device&) {
    if (is_refused(code::of_units)) return cudaErrorNoKernelImageForDevice;
    *facts = {};
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return on_device(current_device(), [](device&) { return cudaSuccess; });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t, cudaFuncAttribute, int, int device) {
  return on_device(device, [](fake_cuda::device&) { return cudaSuccess; });
}
