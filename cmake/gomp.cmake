# pinion_link_gomp(target): a library that was built with OpenMP brings libgomp along, so that a caller may keep it on one
# thread (PINION_HAS_GOMP).
function(pinion_link_gomp target)
  find_library(PINION_GOMP_LIBRARY NAMES gomp libgomp.so.1 HINTS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
  mark_as_advanced(PINION_GOMP_LIBRARY)
  if(PINION_GOMP_LIBRARY)
    target_link_libraries(${target} INTERFACE ${PINION_GOMP_LIBRARY})
    target_compile_definitions(${target} INTERFACE PINION_HAS_GOMP=1)
  endif()
endfunction()
