# What pinion::compiled has kernels of, and for which machines: sets PINION_KERNEL_DEFINITIONS. Fewer of both are built
# faster.
#   PINION_HELD_KERNELS = all | singles | none   the elementwise kernels that the library holds: those of single ops and
#     of the fusions of models, of single ops alone, or those alone of its own rules and formulas. A program compiles
#     what it uses and the library lacks. What a graph comes to use only as it runs, and nobody holds, is interpreted.
#   PINION_INSTRUCTION_SETS = all | native   for every machine of the architecture, or for those with the vectors of this
#     one; on another, a program says so as its first kernel is made.
include_guard()
include(choice)

choice(PINION_HELD_KERNELS "The elementwise kernels that pinion::compiled holds: all, singles or none" all singles none)
choice(PINION_INSTRUCTION_SETS "The instruction sets of kernels: all, or native for those of this machine" all native)

unset(PINION_KERNEL_DEFINITIONS)
set(levels none singles all)
list(FIND levels "${PINION_HELD_KERNELS}" level)
if(NOT PINION_HELD_KERNELS STREQUAL "all")
  list(APPEND PINION_KERNEL_DEFINITIONS PINION_HELD_KERNELS=${level})
endif()

if(PINION_INSTRUCTION_SETS STREQUAL "native")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE macros ERROR_QUIET RESULT_VARIABLE unknown)
  set(set baseline)
  if(macros MATCHES "__AVX2__" AND macros MATCHES "__FMA__")
    set(set avx2)
    if(macros MATCHES "__AVX512F__" AND macros MATCHES "__AVX512DQ__" AND macros MATCHES "__AVX512BW__"
        AND macros MATCHES "__AVX512VL__")
      set(set avx512)
    endif()
  endif()
  if(unknown)
    message(STATUS "pinion: ${CMAKE_CXX_COMPILER} does not tell what this machine has; kernels are for all machines")
  else()
    message(STATUS "pinion: its kernels are for machines that have the vectors of this one (${set})")
    list(APPEND PINION_KERNEL_DEFINITIONS PINION_INSTRUCTION_SET=${set})
  endif()
endif()
