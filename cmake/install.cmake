# Headers, the compiled library, the licence and the package files for find_package(pinion CONFIG REQUIRED).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pinion)

install(TARGETS pinion pinion_compiled pinion_netsim pinion_precompiled ${PINION_CUDA_TARGET} EXPORT pinionTargets
  FILE_SET HEADERS FILE_SET bodies)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT pinionTargets NAMESPACE pinion:: DESTINATION ${package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pinionConfig.cmake.in
  ${PROJECT_BINARY_DIR}/pinionConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pinionConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/pinionConfig.cmake
  ${PROJECT_BINARY_DIR}/pinionConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindoneDNN.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindAsio.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindCBLAS.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindCUDARuntime.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindCereal.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindNlohmannJson.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindProtozero.cmake
  ${CMAKE_CURRENT_LIST_DIR}/cuda_sources.cmake
  ${CMAKE_CURRENT_LIST_DIR}/gomp.cmake
  DESTINATION ${package_dir})
