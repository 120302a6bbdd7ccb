# oneDNN as the target pinion::onednn. Its own package file asks for OpenCL, which pinion does not need. A oneDNN that
# was built with OpenMP brings libgomp along, so that a caller may keep it on one thread (PINION_HAS_GOMP).
find_path(PINION_ONEDNN_INCLUDE_DIR dnnl.hpp)
find_library(PINION_ONEDNN_LIBRARY dnnl)
find_library(PINION_GOMP_LIBRARY NAMES gomp libgomp.so.1 HINTS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
mark_as_advanced(PINION_ONEDNN_INCLUDE_DIR PINION_ONEDNN_LIBRARY PINION_GOMP_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(oneDNN REQUIRED_VARS PINION_ONEDNN_LIBRARY PINION_ONEDNN_INCLUDE_DIR)

if(oneDNN_FOUND AND NOT TARGET pinion::onednn)
  add_library(pinion::onednn UNKNOWN IMPORTED)
  set_target_properties(pinion::onednn PROPERTIES
    IMPORTED_LOCATION ${PINION_ONEDNN_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PINION_ONEDNN_INCLUDE_DIR})
  if(PINION_GOMP_LIBRARY)
    set_target_properties(pinion::onednn PROPERTIES
      INTERFACE_LINK_LIBRARIES ${PINION_GOMP_LIBRARY} INTERFACE_COMPILE_DEFINITIONS PINION_HAS_GOMP=1)
  endif()
endif()
