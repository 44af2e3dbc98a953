# The installed files, and the files that let find_package find the build folder.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(config_dir "${CMAKE_INSTALL_DATADIR}/cmake/weir")
set(pc_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")

write_basic_package_version_file(weir-config-version.cmake
    COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
# Paths are relative to the file, so that the installed tree can be moved. -pthread is in Cflags, because package managers
# allow no `Libs` in share/pkgconfig.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY "${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig" OUTPUT_VARIABLE pc_to_prefix)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR
    BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE pc_include)
file(CONFIGURE OUTPUT weir.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@pc_to_prefix@
includedir=${prefix}/@pc_include@
lint_coroutines=${pcfiledir}/../weir/lint_coroutines

Name: @PROJECT_NAME@
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Cflags: -I${includedir} -pthread
]])
# INCLUDES is for users' CMake before 3.23, which does not know header sets.
install(TARGETS weir EXPORT weir-targets FILE_SET HEADERS FILE_SET optional_headers
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT weir-targets NAMESPACE weir:: DESTINATION "${config_dir}")
# find_package also finds the build folder: -Dweir_DIR=<build folder>.
export(EXPORT weir-targets NAMESPACE weir:: FILE "${PROJECT_BINARY_DIR}/weir-targets.cmake")
set(config_files tests/packaging/weir-config.cmake tests/packaging/weir-components.cmake
    tests/packaging/weir-lint.cmake)
file(COPY ${config_files} tests/compilers/lint_coroutines DESTINATION "${PROJECT_BINARY_DIR}")
install(FILES ${config_files} "${PROJECT_BINARY_DIR}/weir-config-version.cmake" DESTINATION "${config_dir}")
install(PROGRAMS tests/compilers/lint_coroutines DESTINATION "${CMAKE_INSTALL_DATADIR}/weir")
install(FILES "${PROJECT_BINARY_DIR}/weir.pc" DESTINATION "${pc_dir}")
