# Protozero, headers only: pinion::protozero.
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_writer.hpp)
mark_as_advanced(PROTOZERO_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Protozero REQUIRED_VARS PROTOZERO_INCLUDE_DIR)

if(Protozero_FOUND AND NOT TARGET pinion::protozero)
  add_library(pinion::protozero INTERFACE IMPORTED)
  target_include_directories(pinion::protozero INTERFACE ${PROTOZERO_INCLUDE_DIR})
endif()
