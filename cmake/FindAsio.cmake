# Standalone Asio, headers only: pinion::asio.
find_path(ASIO_INCLUDE_DIR asio/awaitable.hpp)
mark_as_advanced(ASIO_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio REQUIRED_VARS ASIO_INCLUDE_DIR)

if(Asio_FOUND AND NOT TARGET pinion::asio)
  add_library(pinion::asio INTERFACE IMPORTED)
  target_include_directories(pinion::asio INTERFACE ${ASIO_INCLUDE_DIR})
endif()
