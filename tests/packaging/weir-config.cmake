# The package file of find_package(weir); installed unchanged.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/weir-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/weir-components.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/weir-lint.cmake")
