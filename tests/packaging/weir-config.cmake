# What find_package(weir) reads; installed as it is.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/weir-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/weir-components.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/weir-lint.cmake")
