# What `cmake --install` puts where: the compiler, the runtime, and the package that find_package(Kiln) finds.
include(CMakePackageConfigHelpers)
set(kilnPackageDir ${CMAKE_INSTALL_LIBDIR}/cmake/Kiln)

install(TARGETS kiln_runtime kiln_headers EXPORT KilnTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT KilnTargets NAMESPACE Kiln:: DESTINATION ${kilnPackageDir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/kiln DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
set_target_properties(kiln_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(kiln_headers PROPERTIES EXPORT_NAME headers)
install(TARGETS kiln_images EXPORT KilnTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set_target_properties(kiln_images PROPERTIES EXPORT_NAME images)
list(TRANSFORM kilnImageLibraries PREPEND "-l" OUTPUT_VARIABLE kilnImageFlags)
list(JOIN kilnImageFlags " " kilnImageFlags)
configure_file(${PROJECT_SOURCE_DIR}/cmake/kiln-images.pc.in ${PROJECT_BINARY_DIR}/package/kiln-images.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/kiln-images.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET kiln_onednn)
  install(TARGETS kiln_onednn EXPORT KilnTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_target_properties(kiln_onednn PROPERTIES EXPORT_NAME onednn ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/kiln-onednn.pc.in ${PROJECT_BINARY_DIR}/package/kiln-onednn.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/kiln-onednn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET kiln_onednn AND KILN_BUILD_COMPILER)
  # What kiln run, verify and bench load when a model calls the library.
  kiln_add_onednn(kiln_onednn_module MODULE)
  set_target_properties(kiln_onednn_module PROPERTIES PREFIX "" OUTPUT_NAME kiln_onednn
                                                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/kiln)
  install(TARGETS kiln_onednn_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/kiln)
endif()
if(KILN_BUILD_COMPILER)
  # LLVM lies in a folder of its own, which the loader does not search.
  set_target_properties(kiln PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIRS}")
  install(TARGETS kiln RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# For builds for other machines.
set(KILN_RUNTIME_SOURCES ${CMAKE_INSTALL_DATADIR}/kiln/runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/ DESTINATION ${KILN_RUNTIME_SOURCES})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/KilnConfig.cmake.in ${PROJECT_BINARY_DIR}/package/KilnConfig.cmake
                              INSTALL_DESTINATION ${kilnPackageDir} PATH_VARS CMAKE_INSTALL_BINDIR KILN_RUNTIME_SOURCES)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/KilnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/kiln.pc.in ${PROJECT_BINARY_DIR}/package/kiln.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/KilnConfig.cmake ${PROJECT_BINARY_DIR}/package/KilnConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/KilnAddKernels.cmake ${PROJECT_SOURCE_DIR}/cmake/KilnAddModel.cmake DESTINATION ${kilnPackageDir})
install(FILES ${PROJECT_BINARY_DIR}/package/kiln.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
