# cmake -D compiler=... -D flags=FILE -D unit=FILE -D program=FILE -P exact.cmake: a unit that is compiled for inexact
# arithmetic, or without run-time types, is refused with a sentence. Where the compiler does not tell of the flag, the
# unit computes what is right.
function(refused flag sentence)
  execute_process(COMMAND ${compiler} @${flags} ${flag} -fsyntax-only ${unit} RESULT_VARIABLE status ERROR_VARIABLE said)
  string(FIND "${said}" "${sentence}" at)
  if(status EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "with ${flag} ${compiler} does not say: ${sentence}\n${said}")
  endif()
endfunction()

refused(-ffast-math "pinion computes wrong numbers under -ffast-math")
refused(-Ofast "compile units that include it without these")
refused(-ffinite-math-only "pinion computes wrong numbers")
refused(-fno-rtti "compile units that include it without -fno-rtti")
if(NOT compiler MATCHES "clang")
  refused(-funsafe-math-optimizations "pinion computes wrong numbers")
  return()
endif()
execute_process(COMMAND ${compiler} @${flags} -O2 -funsafe-math-optimizations ${unit} -o ${program} -lfmt -lpthread
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${program} RESULT_VARIABLE wrong OUTPUT_VARIABLE said)
if(NOT wrong EQUAL 0)
  message(FATAL_ERROR "with -funsafe-math-optimizations ${wrong} numbers are wrong:\n${said}")
endif()
