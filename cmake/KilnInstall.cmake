# What `cmake --install` puts where: the compiler, the runtime, and the package that find_package(Kiln) finds. The components are those of the packages
# (KilnPackages.cmake): `runtime` for machines that only build programs, `compiler`, and `onednn`; `bundle` is for archives alone.
include(CMakePackageConfigHelpers)
set(kilnPackageDir ${CMAKE_INSTALL_LIBDIR}/cmake/Kiln)
set(kilnDocDir ${CMAKE_INSTALL_DATADIR}/doc)

install(TARGETS kiln_runtime kiln_headers EXPORT KilnTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(EXPORT KilnTargets NAMESPACE Kiln:: DESTINATION ${kilnPackageDir} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/kiln DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime FILES_MATCHING PATTERN "*.h")
set_target_properties(kiln_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(kiln_headers PROPERTIES EXPORT_NAME headers)
install(TARGETS kiln_images EXPORT KilnTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
set_target_properties(kiln_images PROPERTIES EXPORT_NAME images)
list(TRANSFORM kilnImageLibraries PREPEND "-l" OUTPUT_VARIABLE kilnImageFlags)
list(JOIN kilnImageFlags " " kilnImageFlags)
configure_file(${PROJECT_SOURCE_DIR}/cmake/kiln-images.pc.in ${PROJECT_BINARY_DIR}/package/kiln-images.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/kiln-images.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
if(TARGET kiln_onednn)
  install(TARGETS kiln_onednn EXPORT KilnTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
  set_target_properties(kiln_onednn PROPERTIES EXPORT_NAME onednn ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/kiln-onednn.pc.in ${PROJECT_BINARY_DIR}/package/kiln-onednn.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/kiln-onednn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
endif()
if(TARGET kiln_onednn AND KILN_BUILD_COMPILER)
  # What kiln run, verify and bench load when a model calls the library.
  kiln_add_onednn(kiln_onednn_module MODULE)
  set_target_properties(kiln_onednn_module PROPERTIES PREFIX "" OUTPUT_NAME kiln_onednn
                                                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/kiln)
  install(TARGETS kiln_onednn_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/kiln COMPONENT onednn)
endif()
if(KILN_BUILD_COMPILER)
  # Archives have the libraries that kiln links in a folder of their own. The old kind of path also holds for the libraries of those libraries.
  set_target_properties(kiln PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/kiln")
  if(NOT kilnStatic)
    # Shared LLVM lies in a folder of its own, which the loader does not search.
    set_property(TARGET kiln APPEND PROPERTY INSTALL_RPATH ${LLVM_LIBRARY_DIRS})
  endif()
  target_link_options(kiln PRIVATE -Wl,--disable-new-dtags)
  install(TARGETS kiln RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  set(pages ${PROJECT_BINARY_DIR}/package/pages)
  install(DIRECTORY ${pages}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT compiler)
  install(FILES ${pages}/kiln.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kiln COMPONENT compiler)
  install(FILES ${pages}/kiln.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT compiler)
  # zsh looks into the first below /usr/local, and Debian's into the second below /usr.
  install(FILES ${pages}/_kiln DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT compiler)
  install(FILES ${pages}/_kiln DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT compiler)
  install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${kilnDocDir}/kiln COMPONENT compiler)
  install(DIRECTORY docs DESTINATION ${kilnDocDir}/kiln COMPONENT compiler)
  # LLVM is part of kiln.
  file(GLOB kilnUpstreamLicense /usr/share/doc/llvm-22-dev/copyright /usr/share/doc/libllvm22/copyright)
  if(kilnUpstreamLicense)
    list(GET kilnUpstreamLicense 0 kilnUpstreamLicense)
    install(FILES ${kilnUpstreamLicense} DESTINATION ${kilnDocDir}/kiln/licenses RENAME llvm COMPONENT compiler)
  endif()
  install(CODE "set(kiln $<TARGET_FILE:kiln>)\nset(libdir ${CMAKE_INSTALL_LIBDIR})\ninclude(${PROJECT_SOURCE_DIR}/cmake/BundleLibraries.cmake)"
          COMPONENT bundle EXCLUDE_FROM_ALL)
endif()
# The packages for Debian, and what of an installation each has.
set(kilnPackages libkiln-dev)
set(kilnComponents runtime)
if(KILN_BUILD_COMPILER)
  list(APPEND kilnPackages kiln)
  list(APPEND kilnComponents compiler)
endif()
if(TARGET kiln_onednn_module)
  list(APPEND kilnPackages kiln-onednn)
  list(APPEND kilnComponents onednn)
endif()
foreach(package component IN ZIP_LISTS kilnPackages kilnComponents)
  install(FILES LICENSE DESTINATION ${kilnDocDir}/${package} RENAME copyright COMPONENT ${component})
endforeach()
# For builds for other machines.
set(KILN_RUNTIME_SOURCES ${CMAKE_INSTALL_DATADIR}/kiln/runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/ DESTINATION ${KILN_RUNTIME_SOURCES} COMPONENT runtime)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/KilnConfig.cmake.in ${PROJECT_BINARY_DIR}/package/KilnConfig.cmake
                              INSTALL_DESTINATION ${kilnPackageDir} PATH_VARS CMAKE_INSTALL_BINDIR KILN_RUNTIME_SOURCES)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/KilnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/kiln.pc.in ${PROJECT_BINARY_DIR}/package/kiln.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/KilnConfig.cmake ${PROJECT_BINARY_DIR}/package/KilnConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/KilnAddKernels.cmake ${PROJECT_SOURCE_DIR}/cmake/KilnAddModel.cmake DESTINATION ${kilnPackageDir} COMPONENT runtime)
install(FILES ${PROJECT_BINARY_DIR}/package/kiln.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)

# Last: the list of all that was installed, and the script that removes it, which needs no build tree.
install(FILES ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln COMPONENT uninstall)
install(CODE "set(kilnDatadir ${CMAKE_INSTALL_DATADIR})\ninclude(${PROJECT_SOURCE_DIR}/cmake/WriteManifest.cmake)" COMPONENT uninstall)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${CMAKE_INSTALL_FULL_DATADIR}/kiln/uninstall.cmake COMMENT "Removing what was installed" VERBATIM)
