# CUDA without a GPU, in three parts: pinion_cuda_grids runs kernels on the host, and needs nothing of NVIDIA;
# pinion_cuda_stand_in is the runtime; pinion_fake_nvrtc is NVRTC.
set(here ${CMAKE_CURRENT_LIST_DIR})
file(GLOB parts CONFIGURE_DEPENDS ${here}/*.cpp)

# The sanitizers are told what CUDA orders, and see nothing of how the stand-in keeps that order.
set(told "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  set(told FAKE_CUDA_THREAD_SANITIZER)
  set_source_files_properties(${parts} PROPERTIES COMPILE_OPTIONS -fno-sanitize=thread)
elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  set(told FAKE_CUDA_ADDRESS_SANITIZER)
endif()

add_library(pinion_cuda_grids OBJECT ${here}/fiber.cpp ${here}/grid.cpp ${here}/misuse.cpp)
target_compile_features(pinion_cuda_grids PRIVATE cxx_std_20)
target_compile_definitions(pinion_cuda_grids PRIVATE ${told})
if(NOT PINION_HAS_CUDA)
  return()
endif()

# The functions of the runtime. They are a shared library that shows nothing else, since the sanitizers do not see them:
# the linker would give the whole program their copies of std's inline functions, and with them what sanitizers miss.
add_library(pinion_fake_cudart SHARED ${parts})
target_compile_features(pinion_fake_cudart PRIVATE cxx_std_20)
target_compile_definitions(pinion_fake_cudart PRIVATE ${told})
target_include_directories(pinion_fake_cudart SYSTEM PUBLIC ${PINION_CUDA_INCLUDE_DIR})
target_link_libraries(pinion_fake_cudart PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(pinion_fake_cudart PRIVATE -Wl,--version-script=${here}/exports.map)
set_target_properties(pinion_fake_cudart PROPERTIES LINK_DEPENDS ${here}/exports.map)

# That library and pinion's kernels as C++. A program that links pinion_cuda_stand_in before all else has them instead
# of pinion_cuda and of NVIDIA's runtime, which come behind.
file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/compiled/cuda/*.cu)
set(PINION_CUDA_AS_CPP "-xc++;-include${here}/words.hpp;-Wno-unknown-pragmas;-ffp-contract=off;-fno-strict-aliasing"
  CACHE INTERNAL "The options of CUDA C++ as C++ for the stand-in")
set_source_files_properties(${kernels} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "${PINION_CUDA_AS_CPP}")
add_library(pinion_cuda_stand_in OBJECT ${kernels})
target_compile_features(pinion_cuda_stand_in PUBLIC cxx_std_20)
target_compile_definitions(pinion_cuda_stand_in PRIVATE ${told})
target_include_directories(pinion_cuda_stand_in PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(pinion_cuda_stand_in PUBLIC pinion_fake_cudart)

# pinion_stand_in_sources(target FILE...): as pinion_cuda_sources, for the stand-in.
function(pinion_stand_in_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "${PINION_CUDA_AS_CPP}"
    COMPILE_DEFINITIONS PINION_CUDA_KERNELS=1 SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# NVRTC, in a folder for PINION_CUDA_LIBS. What it compiles has the sanitizer of the tests.
string(REGEX MATCH "-fsanitize=(thread|address)" sanitizer "${CMAKE_CXX_FLAGS}")
string(JOIN " " compile ${CMAKE_CXX_COMPILER} -std=c++17 -O1 -w -fPIC -shared -fvisibility=hidden -ffp-contract=off
  -fno-strict-aliasing ${sanitizer} -include ${here}/kernel_words.hpp)
file(STRINGS ${PINION_CUDA_INCLUDE_DIR}/cuda_runtime_api.h version REGEX "#define CUDART_VERSION")
string(REGEX MATCH "[0-9]+" version "${version}")
math(EXPR major "${version} / 1000")
set(PINION_FAKE_CUDA_LIBS ${CMAKE_CURRENT_BINARY_DIR}/fake_cuda_libs)
add_library(pinion_fake_nvrtc MODULE ${here}/nvrtc/nvrtc.cpp)
target_compile_features(pinion_fake_nvrtc PRIVATE cxx_std_20)
target_compile_definitions(pinion_fake_nvrtc PRIVATE FAKE_NVRTC_COMPILER="${compile}" FAKE_NVRTC_VERSION=${version})
target_include_directories(pinion_fake_nvrtc SYSTEM PRIVATE ${PINION_CUDA_INCLUDE_DIR})
set_target_properties(pinion_fake_nvrtc PROPERTIES PREFIX lib OUTPUT_NAME nvrtc SUFFIX .so.${major}
  LIBRARY_OUTPUT_DIRECTORY ${PINION_FAKE_CUDA_LIBS})

# Beside it stand-ins for cuBLASLt and cuDNN: NVIDIA's would call a real GPU with memory of the stand-in. They have the
# version of the header.
function(add_fake_library name header macro source)
  file(STRINGS ${PINION_CUDA_INCLUDE_DIR}/${header} version REGEX "#define ${macro} ")
  string(REGEX MATCH "[0-9]+$" version "${version}")
  add_library(pinion_fake_${name} MODULE ${source})
  target_compile_features(pinion_fake_${name} PRIVATE cxx_std_20)
  target_include_directories(pinion_fake_${name} SYSTEM PRIVATE ${PINION_CUDA_INCLUDE_DIR})
  set_target_properties(pinion_fake_${name} PROPERTIES PREFIX lib OUTPUT_NAME ${name} SUFFIX .so.${version}
    LIBRARY_OUTPUT_DIRECTORY ${PINION_FAKE_CUDA_LIBS})
  add_dependencies(pinion_fake_nvrtc pinion_fake_${name})
endfunction()
if(EXISTS ${PINION_CUDA_INCLUDE_DIR}/cublasLt.h)
  add_fake_library(cublasLt cublas_api.h CUBLAS_VER_MAJOR ${CMAKE_CURRENT_LIST_DIR}/cublas/cublas.cpp)
endif()
if(EXISTS ${PINION_CUDA_INCLUDE_DIR}/cudnn.h)
  add_fake_library(cudnn cudnn_version.h CUDNN_MAJOR ${CMAKE_CURRENT_LIST_DIR}/cudnn/cudnn.cpp)
endif()
