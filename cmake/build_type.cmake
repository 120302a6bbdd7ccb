# Templates that are not optimized are many times slower, and nothing says so: a build type where none was given.
get_property(several_build_types GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT several_build_types AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CXX_FLAGS MATCHES "-O")
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
    message(STATUS "pinion: no CMAKE_BUILD_TYPE was given; it is Release")
  else()
    message(WARNING "pinion: CMAKE_BUILD_TYPE is empty, so that nothing is optimized, pinion's templates included; "
      "with -D CMAKE_BUILD_TYPE=Release they are many times faster")
  endif()
endif()
