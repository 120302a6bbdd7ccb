# cmake -D folder=... -D compiler=... -D flags=FILE -D header=FILE -D unit=FILE -P accept.cmake: behind the header the
# programs of the folder compile with ACCEPT defined, all in one unit, each in a namespace of its own.
file(GLOB_RECURSE programs ${folder}/*.cpp)
set(includes "")
set(spaces "")
foreach(program IN LISTS programs)
  file(STRINGS ${program} lines REGEX "^#include")
  list(APPEND includes ${lines})
  list(LENGTH spaces number)
  list(APPEND spaces "namespace accepted_${number} {\n#include \"${program}\"\n}\n")
endforeach()
list(REMOVE_DUPLICATES includes)
list(JOIN includes "\n" includes)
list(JOIN spaces "" spaces)
file(WRITE ${unit} "${includes}\n#define ACCEPT\n${spaces}")

execute_process(COMMAND ${compiler} @${flags} -Wno-psabi -fsyntax-only -include ${header} ${unit}
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "accepted twins do not compile")
endif()
