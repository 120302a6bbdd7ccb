# oneDNN as the target pinion::onednn. Its own package file asks for OpenCL, which pinion does not need.
include(${CMAKE_CURRENT_LIST_DIR}/gomp.cmake)
find_path(PINION_ONEDNN_INCLUDE_DIR dnnl.hpp)
find_library(PINION_ONEDNN_LIBRARY dnnl)
mark_as_advanced(PINION_ONEDNN_INCLUDE_DIR PINION_ONEDNN_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(oneDNN REQUIRED_VARS PINION_ONEDNN_LIBRARY PINION_ONEDNN_INCLUDE_DIR)

if(oneDNN_FOUND AND NOT TARGET pinion::onednn)
  add_library(pinion::onednn UNKNOWN IMPORTED)
  set_target_properties(pinion::onednn PROPERTIES
    IMPORTED_LOCATION ${PINION_ONEDNN_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PINION_ONEDNN_INCLUDE_DIR})
  pinion_link_gomp(pinion::onednn)
endif()
