# A CBLAS as the target pinion::cblas. Debian builds OpenBLAS three times. Preferred is that with OpenMP, which a caller
# may keep on one thread (gomp.cmake). That without threads lets one caller in at a time.
include(${CMAKE_CURRENT_LIST_DIR}/gomp.cmake)
set(flavours openblas-openmp openblas-serial openblas openblas-pthread)
find_path(PINION_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES ${flavours})
find_library(PINION_CBLAS_LIBRARY NAMES openblas cblas blas PATH_SUFFIXES ${flavours})
mark_as_advanced(PINION_CBLAS_INCLUDE_DIR PINION_CBLAS_LIBRARY)
unset(flavours)

if(PINION_CBLAS_INCLUDE_DIR AND PINION_CBLAS_LIBRARY)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${PINION_CBLAS_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${PINION_CBLAS_LIBRARY})
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("#include <cblas.h>
    int main() { double x = 1; return int(cblas_ddot(1, &x, 1, &x, 1)); }" PINION_CBLAS_LINKS)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_QUIET)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CBLAS REQUIRED_VARS PINION_CBLAS_LIBRARY PINION_CBLAS_INCLUDE_DIR PINION_CBLAS_LINKS)

if(CBLAS_FOUND AND NOT TARGET pinion::cblas)
  add_library(pinion::cblas UNKNOWN IMPORTED)
  set_target_properties(pinion::cblas PROPERTIES
    IMPORTED_LOCATION ${PINION_CBLAS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PINION_CBLAS_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
  if(PINION_CBLAS_LIBRARY MATCHES openmp)
    pinion_link_gomp(pinion::cblas)
  endif()
endif()
