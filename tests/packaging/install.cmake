# What is installed of weir, and what makes its build folder one that find_package finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(config_dir "${CMAKE_INSTALL_DATADIR}/cmake/weir")
set(pc_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")

write_basic_package_version_file(weir-config-version.cmake
    COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
# Paths relative to the file, so that the installed tree can be moved; -pthread among the flags,
# as package managers allow no `Libs` in share/pkgconfig.
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
# INCLUDES for a user's CMake before 3.23, which doesn't see the header sets.
install(TARGETS weir EXPORT weir-targets FILE_SET HEADERS FILE_SET optional_headers
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT weir-targets NAMESPACE weir:: DESTINATION "${config_dir}")
# The build folder can be found as well: -Dweir_DIR=<build folder>.
export(EXPORT weir-targets NAMESPACE weir:: FILE "${PROJECT_BINARY_DIR}/weir-targets.cmake")
set(config_files tests/packaging/weir-config.cmake tests/packaging/weir-components.cmake
    tests/packaging/weir-lint.cmake)
file(COPY ${config_files} tests/compilers/lint_coroutines DESTINATION "${PROJECT_BINARY_DIR}")
install(FILES ${config_files} "${PROJECT_BINARY_DIR}/weir-config-version.cmake" DESTINATION "${config_dir}")
install(PROGRAMS tests/compilers/lint_coroutines DESTINATION "${CMAKE_INSTALL_DATADIR}/weir")
install(FILES "${PROJECT_BINARY_DIR}/weir.pc" DESTINATION "${pc_dir}")
