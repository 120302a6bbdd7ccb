# cmake -D COMPILER=PROGRAM -D SOURCE=FOLDER -P same_text.cmake: a program of pinion::compiled takes as long to compile
# with CUDA as without, since the compiler reads the same text.
foreach(has_cuda IN ITEMS 0 1)
  execute_process(COMMAND ${COMPILER} -std=c++20 -E -DPINION_COMPILED=1 -DPINION_HAS_CUDA=${has_cuda}
    -I${SOURCE}/include ${SOURCE}/bench/compile_time/ten_ops.cpp OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(LENGTH "${text}" length)
  string(MD5 digest "${text}")
  list(APPEND texts "${length} ${digest}")
endforeach()
message("${texts}")
list(GET texts 0 without)
list(GET texts 1 with)
if(NOT without STREQUAL with OR without MATCHES "^0 ")
  message(FATAL_ERROR "Without CUDA the compiler reads another text of a program of ten ops than with it.")
endif()
