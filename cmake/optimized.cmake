# How far the units of pinion::compiled are optimized. Those that are optimized less compile in two thirds of the time.
#   PINION_OPTIMIZED = all | kernels   all as the build type says; or in Release the kernels alone, where what runs a step
#     is at -O1, and at -Og what runs before and beside steps. The steps of a model take as long, an empty one longer.
include_guard()
include(choice)

choice(PINION_OPTIMIZED "What of pinion::compiled is optimized as the build type says: all or kernels" all kernels)

function(optimize_in_release flags)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/cmake/compiled/ OUTPUT_VARIABLE units)
  list(TRANSFORM units APPEND .cpp)
  set_source_files_properties(${units} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:${flags}>)
endfunction()

if(PINION_OPTIMIZED STREQUAL "kernels")
  optimize_in_release(-O1 client graph master op rpc runtime server wire worker)
  optimize_in_release(-Og dsl files optimize placement status train)
endif()
