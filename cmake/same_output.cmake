# cmake -D program=... -D expected=FILE -P same_output.cmake: runs the program and compares what it prints with FILE.
# Outputs are those of a machine without GPUs.
set(ENV{CUDA_VISIBLE_DEVICES} -1)
execute_process(COMMAND ${program} OUTPUT_VARIABLE printed ERROR_VARIABLE complaint RESULT_VARIABLE status)
file(READ ${expected} wanted)
if(NOT status EQUAL 0)
  message("${printed}${complaint}")
  message(FATAL_ERROR "${program} ended with ${status}")
elseif(NOT printed STREQUAL wanted)
  message("printed:\n${printed}\nexpected:\n${wanted}")
  message(FATAL_ERROR "the output is not that of ${expected}")
endif()
