# `cmake --install build/release --prefix DIR` puts the two programs in place, and a CMake package:
#   find_package(hyfreedp)  ->  hyfreedp::accounting (and hyfreedp::base, which it needs); no LibTorch.
include(CMakePackageConfigHelpers)

install(TARGETS hyfreedp RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(HYFREEDP_TORCH)
  install(TARGETS hyfreedp-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_target_properties(hyfreedp-worker PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()

install(TARGETS hyfreedp_includes hyfreedp_base hyfreedp_accounting EXPORT hyfreedp-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT hyfreedp-targets NAMESPACE hyfreedp:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hyfreedp)
foreach(_room base accounting)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/harness/${_room}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hyfreedp/harness FILES_MATCHING PATTERN "*.h")
endforeach()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hyfreedp-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_package_config_file(${CMAKE_SOURCE_DIR}/harness/build/hyfreedp-config.cmake.in
  ${CMAKE_BINARY_DIR}/hyfreedp-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hyfreedp)
install(FILES ${CMAKE_BINARY_DIR}/hyfreedp-config.cmake ${CMAKE_BINARY_DIR}/hyfreedp-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hyfreedp)
