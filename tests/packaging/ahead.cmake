# The names of kernels that PROGRAM registers with CUDA stand in it without its symbols: two for each program.
set(stripped ${PROGRAM}_stripped)
execute_process(COMMAND ${STRIP} -o ${stripped} ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${stripped} names REGEX "map_ahead_of_time")
file(REMOVE ${stripped})
list(LENGTH names count)
if(count LESS 6)
  message(FATAL_ERROR "${PROGRAM} registers ${count} kernels of programs")
endif()
