# Takes ccache where it is found and nothing else was asked for. The sloppiness is what precompiled headers need.
find_program(PINION_CCACHE ccache)
mark_as_advanced(PINION_CCACHE)
if(PINION_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${PINION_CCACHE})
endif()
