# pinion::cuda, the kernels that nvcc compiles: plain functions that take a stream. They know nothing of the rest of
# pinion, so programs of pure headers and of pinion::compiled link the same library.
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${PINION_NVCC})
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi --query-gpu=name RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
  if(no_gpu)
    set(CMAKE_CUDA_ARCHITECTURES 90)  # and its PTX, which later GPUs compile for themselves
  else()
    set(CMAKE_CUDA_ARCHITECTURES native)
  endif()
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()

file(GLOB units CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/compiled/cuda/*.cu)
add_library(pinion_cuda STATIC ${units})
add_library(pinion::cuda ALIAS pinion_cuda)
target_compile_options(pinion_cuda PRIVATE
  --expt-relaxed-constexpr -Werror=cross-execution-space-call)
target_include_directories(pinion_cuda PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(pinion_cuda PUBLIC pinion::cudart)
set_target_properties(pinion_cuda PROPERTIES EXPORT_NAME cuda POSITION_INDEPENDENT_CODE ON CUDA_RUNTIME_LIBRARY None
  CUDA_STANDARD 20)
if(NOT PROJECT_IS_TOP_LEVEL)
  set_target_properties(pinion_cuda PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
set(PINION_CUDA_TARGET pinion_cuda)
