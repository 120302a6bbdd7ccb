# pinion::cuda, the kernels that nvcc compiles: plain functions that take a stream. They know nothing of the rest of
# pinion, so programs of pure headers and of pinion::compiled link the same library.
pinion_enable_cuda()

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
