# Configures a project as a user does, in a new folder, and looks at what is said and chosen.
#
#   cmake -D SOURCE=DIR -D BINARY=DIR -D OPTIONS=list [-D SAYS=text] [-D SILENT=text] [-D BUILD_TYPE=X] -P configure.cmake
file(REMOVE_RECURSE ${BINARY})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} ${OPTIONS}
  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(failed)
  message(FATAL_ERROR "it was not configured:\n${said}")
endif()
string(REGEX REPLACE "[ \n]+" " " said "${said}")  # warnings are folded
string(FIND "${said}" "${SAYS}" at)
if(SAYS AND at EQUAL -1)
  message(FATAL_ERROR "it did not say '${SAYS}':\n${said}")
endif()
string(FIND "${said}" "${SILENT}" at)
if(SILENT AND NOT at EQUAL -1)
  message(FATAL_ERROR "it said '${SILENT}':\n${said}")
endif()
if(BUILD_TYPE)
  file(STRINGS ${BINARY}/CMakeCache.txt lines REGEX "^CMAKE_BUILD_TYPE:STRING=${BUILD_TYPE}$")
  if(NOT lines)
    message(FATAL_ERROR "CMAKE_BUILD_TYPE is not ${BUILD_TYPE}")
  endif()
endif()
