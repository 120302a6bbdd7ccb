# pinion::http, the HTTP server of metrics: plain functions that know nothing of the rest of pinion, so that programs of
# pure headers and of pinion::compiled link the same library, and none of them sees cpp-httplib. Without cpp-httplib it
# is there all the same, and says so when it is asked to serve.
add_library(pinion_http STATIC ${CMAKE_CURRENT_LIST_DIR}/compiled/http/server.cpp)
add_library(pinion::http ALIAS pinion_http)
target_include_directories(pinion_http PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_features(pinion_http PRIVATE cxx_std_20)
target_compile_definitions(pinion_http PRIVATE PINION_HAS_HTTPLIB=${PINION_HAS_HTTPLIB})
if(PINION_HAS_HTTPLIB)
  target_link_libraries(pinion_http PRIVATE pinion::httplib Threads::Threads)
endif()
set_target_properties(pinion_http PROPERTIES EXPORT_NAME http POSITION_INDEPENDENT_CODE ON)
if(NOT PROJECT_IS_TOP_LEVEL)
  set_target_properties(pinion_http PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
set(PINION_HTTP_TARGET pinion_http)
