// The stand-in for CUDA: errors.
#include <cuda_runtime_api.h>

#include "machine.hpp"

cudaError_t cudaGetLastError() {
  return fake_cuda::take_last_error(true);
}

cudaError_t cudaPeekAtLastError() {
  return fake_cuda::take_last_error(false);
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define FAKE_CUDA_NAME(name) \
  case name: return #name;
    FAKE_CUDA_NAME(cudaSuccess)
    FAKE_CUDA_NAME(cudaErrorInvalidValue)
    FAKE_CUDA_NAME(cudaErrorMemoryAllocation)
    FAKE_CUDA_NAME(cudaErrorInvalidConfiguration)
    FAKE_CUDA_NAME(cudaErrorInsufficientDriver)
    FAKE_CUDA_NAME(cudaErrorInvalidDeviceFunction)
    FAKE_CUDA_NAME(cudaErrorNoDevice)
    FAKE_CUDA_NAME(cudaErrorInvalidDevice)
    FAKE_CUDA_NAME(cudaErrorInvalidKernelImage)
    FAKE_CUDA_NAME(cudaErrorNoKernelImageForDevice)
    FAKE_CUDA_NAME(cudaErrorECCUncorrectable)
    FAKE_CUDA_NAME(cudaErrorUnsupportedPtxVersion)
    FAKE_CUDA_NAME(cudaErrorInvalidResourceHandle)
    FAKE_CUDA_NAME(cudaErrorSymbolNotFound)
    FAKE_CUDA_NAME(cudaErrorNotReady)
    FAKE_CUDA_NAME(cudaErrorIllegalAddress)
    FAKE_CUDA_NAME(cudaErrorPeerAccessAlreadyEnabled)
    FAKE_CUDA_NAME(cudaErrorPeerAccessNotEnabled)
    FAKE_CUDA_NAME(cudaErrorPeerAccessUnsupported)
    FAKE_CUDA_NAME(cudaErrorLaunchFailure)
    FAKE_CUDA_NAME(cudaErrorNotPermitted)
    FAKE_CUDA_NAME(cudaErrorNotSupported)
    FAKE_CUDA_NAME(cudaErrorIllegalState)
    FAKE_CUDA_NAME(cudaErrorStreamCaptureUnsupported)
    FAKE_CUDA_NAME(cudaErrorStreamCaptureInvalidated)
    FAKE_CUDA_NAME(cudaErrorStreamCaptureUnmatched)
    FAKE_CUDA_NAME(cudaErrorStreamCaptureUnjoined)
    FAKE_CUDA_NAME(cudaErrorUnknown)
#undef FAKE_CUDA_NAME
    default: return "an error that the stand-in for CUDA does not name";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInsufficientDriver: return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorNoKernelImageForDevice: return "no kernel image is available for execution on the device";
    case cudaErrorUnsupportedPtxVersion: return "the provided PTX was compiled with an unsupported toolchain.";
    case cudaErrorECCUncorrectable: return "uncorrectable ECC error encountered";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorNotPermitted: return "operation not permitted";
    case cudaErrorNotSupported: return "operation not supported";
    default: return cudaGetErrorName(error);
  }
}
