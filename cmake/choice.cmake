# choice(NAME "help" default others...): a setting of the cache that is one of a few words, the first where nobody says.
include_guard()

function(choice name help)
  list(GET ARGN 0 default)
  set(${name} ${default} CACHE STRING "${help}")
  set_property(CACHE ${name} PROPERTY STRINGS ${ARGN})
  if(NOT "${${name}}" IN_LIST ARGN)
    list(POP_BACK ARGN last)
    list(JOIN ARGN ", " others)
    message(FATAL_ERROR "${name} is '${${name}}', and may be ${others} or ${last}")
  endif()
endfunction()
