# nlohmann-json, headers only: pinion::json.
find_path(NLOHMANNJSON_INCLUDE_DIR nlohmann/json.hpp)
mark_as_advanced(NLOHMANNJSON_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NlohmannJson REQUIRED_VARS NLOHMANNJSON_INCLUDE_DIR)

if(NlohmannJson_FOUND AND NOT TARGET pinion::json)
  add_library(pinion::json INTERFACE IMPORTED)
  target_include_directories(pinion::json INTERFACE ${NLOHMANNJSON_INCLUDE_DIR})
endif()
