# A program of each fuzz target, which libFuzzer drives: programs/libfuzzer.cpp says how to run it.
add_library(pinion_libfuzzer OBJECT ${CMAKE_CURRENT_LIST_DIR}/programs/libfuzzer.cpp)
target_include_directories(pinion_libfuzzer PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(pinion_libfuzzer PUBLIC pinion::compiled)

file(GLOB targets CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
list(FILTER targets EXCLUDE REGEX "_test[.]cpp$")
foreach(target IN LISTS targets)
  cmake_path(GET target STEM name)
  add_executable(pinion_fuzz_${name} ${target})
  target_link_libraries(pinion_fuzz_${name} PRIVATE pinion_libfuzzer)
  target_link_options(pinion_fuzz_${name} PRIVATE -fsanitize=fuzzer)
endforeach()
target_sources(pinion_fuzz_steps PRIVATE laws/catalogue.cpp)
