# cpp-httplib as a compiled library, as Debian has it: pinion::httplib. Its header must see the macros that the library
# was built with, since they change its types; pkg-config tells them.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_HTTPLIB QUIET cpp-httplib)
endif()
find_path(HTTPLIB_INCLUDE_DIR httplib.h HINTS ${PC_HTTPLIB_INCLUDE_DIRS})
find_library(HTTPLIB_LIBRARY cpp-httplib HINTS ${PC_HTTPLIB_LIBRARY_DIRS})
mark_as_advanced(HTTPLIB_INCLUDE_DIR HTTPLIB_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Httplib REQUIRED_VARS HTTPLIB_LIBRARY HTTPLIB_INCLUDE_DIR PC_HTTPLIB_FOUND)

if(Httplib_FOUND AND NOT TARGET pinion::httplib)
  add_library(pinion::httplib UNKNOWN IMPORTED)
  set_target_properties(pinion::httplib PROPERTIES IMPORTED_LOCATION ${HTTPLIB_LIBRARY})
  target_include_directories(pinion::httplib INTERFACE ${HTTPLIB_INCLUDE_DIR})
  target_compile_options(pinion::httplib INTERFACE ${PC_HTTPLIB_CFLAGS_OTHER})
endif()
