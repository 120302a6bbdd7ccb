# Cereal, headers only: pinion::cereal.
find_path(CEREAL_INCLUDE_DIR cereal/cereal.hpp)
mark_as_advanced(CEREAL_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cereal REQUIRED_VARS CEREAL_INCLUDE_DIR)

if(Cereal_FOUND AND NOT TARGET pinion::cereal)
  add_library(pinion::cereal INTERFACE IMPORTED)
  target_include_directories(pinion::cereal INTERFACE ${CEREAL_INCLUDE_DIR})
endif()
