# NVRTC, the compiler of CUDA C in the CUDA toolkit: pinion::nvrtc. It needs neither a GPU nor a driver.
find_path(PINION_NVRTC_INCLUDE_DIR nvrtc.h
  HINTS ENV CUDA_PATH ENV CUDAToolkit_ROOT PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES include)
find_library(PINION_NVRTC_LIBRARY nvrtc
  HINTS ENV CUDA_PATH ENV CUDAToolkit_ROOT PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES lib64 lib)
mark_as_advanced(PINION_NVRTC_INCLUDE_DIR PINION_NVRTC_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NVRTC REQUIRED_VARS PINION_NVRTC_LIBRARY PINION_NVRTC_INCLUDE_DIR)

if(NVRTC_FOUND AND NOT TARGET pinion::nvrtc)
  add_library(pinion::nvrtc UNKNOWN IMPORTED)
  set_target_properties(pinion::nvrtc PROPERTIES
    IMPORTED_LOCATION ${PINION_NVRTC_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PINION_NVRTC_INCLUDE_DIR})
endif()
