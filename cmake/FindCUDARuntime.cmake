# The CUDA toolkit, as far as pinion is built with it: the headers and the runtime as a static library, pinion::cudart,
# and nvcc as PINION_NVCC, which the build of pinion itself requires (PINION_REQUIRES_NVCC). Programs open NVRTC and
# NVIDIA's other libraries as they run. None of this needs a GPU or a driver.
set(places HINTS ENV CUDA_PATH ENV CUDAToolkit_ROOT PATHS /usr/local/cuda /opt/cuda)
find_program(PINION_NVCC nvcc ${places} PATH_SUFFIXES bin)
find_path(PINION_CUDA_INCLUDE_DIR cuda_runtime_api.h ${places} PATH_SUFFIXES include)
find_library(PINION_CUDART_LIBRARY cudart_static ${places} PATH_SUFFIXES lib64 lib)
mark_as_advanced(PINION_NVCC PINION_CUDA_INCLUDE_DIR PINION_CUDART_LIBRARY)
unset(places)

if(PINION_CUDA_INCLUDE_DIR)
  file(STRINGS ${PINION_CUDA_INCLUDE_DIR}/cuda_runtime_api.h line REGEX "#define CUDART_VERSION")
  string(REGEX MATCH "[0-9]+" number "${line}")
  math(EXPR major "${number} / 1000")
  math(EXPR minor "${number} % 1000 / 10")
  set(CUDARuntime_VERSION ${major}.${minor})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CUDARuntime
  REQUIRED_VARS PINION_CUDART_LIBRARY PINION_CUDA_INCLUDE_DIR VERSION_VAR CUDARuntime_VERSION)

# What is missing, in words.
set(missing "")
if(NOT PINION_CUDA_INCLUDE_DIR)
  list(APPEND missing "cuda_runtime_api.h")
endif()
if(NOT PINION_CUDART_LIBRARY)
  list(APPEND missing "libcudart_static.a")
endif()
if(PINION_REQUIRES_NVCC AND NOT PINION_NVCC)
  list(APPEND missing "nvcc")
endif()
list(JOIN missing " and no " CUDARuntime_NOT_FOUND_MESSAGE)
if(missing)
  set(CUDARuntime_FOUND FALSE)
  string(PREPEND CUDARuntime_NOT_FOUND_MESSAGE "there is no ")
elseif(CUDARuntime_VERSION VERSION_LESS 12.8)  # the runtime loads kernels from memory since 12.8
  set(CUDARuntime_FOUND FALSE)
  set(CUDARuntime_NOT_FOUND_MESSAGE "version ${CUDARuntime_VERSION} is older than 12.8")
endif()
unset(missing)
if(CUDARuntime_FOUND AND NOT TARGET pinion::cudart)
  find_package(Threads REQUIRED)
  add_library(pinion::cudart STATIC IMPORTED)
  set_target_properties(pinion::cudart PROPERTIES
    IMPORTED_LOCATION ${PINION_CUDART_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PINION_CUDA_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};rt")
endif()
