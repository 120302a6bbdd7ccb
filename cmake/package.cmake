# A package for Debian and Ubuntu of what is installed: cmake --build BUILD --target package. It depends on the packages
# of the components that were found; NVIDIA's toolkit, which may come from elsewhere, is not among them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libpinion-dev)
set(CPACK_PACKAGE_CONTACT "the pinion authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
list(JOIN PINION_DEBIAN_PACKAGES ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, cmake")
find_program(PINION_SHLIBDEPS dpkg-shlibdeps)  # names the versions of the shared libraries that the programs link
mark_as_advanced(PINION_SHLIBDEPS)
if(PINION_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
