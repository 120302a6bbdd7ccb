# pinion_choose_cuda_architectures(): sets CMAKE_CUDA_ARCHITECTURES, where nobody has, to the GPUs of this machine; where
# there are none, to 90 and its PTX, which later GPUs compile for themselves.
macro(pinion_choose_cuda_architectures)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    execute_process(COMMAND nvidia-smi --query-gpu=name RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
    set(CMAKE_CUDA_ARCHITECTURES native)
    if(no_gpu)
      set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
    unset(no_gpu)
  endif()
endmacro()

# pinion_enable_cuda(): enables CUDA C++20 by the nvcc that was found with the toolkit.
macro(pinion_enable_cuda)
  pinion_choose_cuda_architectures()
  if(NOT CMAKE_CUDA_COMPILER AND PINION_NVCC)
    set(CMAKE_CUDA_COMPILER ${PINION_NVCC})
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
endmacro()

# pinion_cuda_sources(target FILE...): adds files of CUDA C++ that include pinion's headers (pinion/cuda.hpp) to a target
# of pinion::compiled, with the options that nvcc needs for them. Elementwise expressions in these files, and their
# gradients, get kernels for the GPUs of CMAKE_CUDA_ARCHITECTURES while nvcc compiles, so that nothing compiles or
# interprets them as the program runs; for that, an expression that stands in a file of CUDA C++ needs no more.
# Called where languages may be enabled: at the level of a CMakeLists.txt. Requires: pinion was built with CUDA (the
# target pinion::cuda is there).
macro(pinion_cuda_sources target)
  pinion_enable_cuda()
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_RUNTIME_LIBRARY None)
  get_target_property(pinion_architectures ${target} CUDA_ARCHITECTURES)
  if(NOT pinion_architectures)  # the target may be older than the choice
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}")
  endif()
  unset(pinion_architectures)
  # fmt 9 turns constant expressions off for nvcc.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-DFMT_USE_CONSTEXPR=1;-DPINION_CUDA_KERNELS=1>")
endmacro()
