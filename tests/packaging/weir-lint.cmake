# weir_lint_coroutines(TARGET [ARGUMENT...]): runs tests/compilers/lint_coroutines on the target's sources before they are
# compiled, and on the headers that they include from the project's own include directories. A finding ends the build. A file
# is read again only after a change. Further arguments are the lint's: --exclude PATH, --not-aggregate NAME, a PATH.
# Call it in the folder that makes the target, after its include directories are set.
if(POLICY CMP0116)
    cmake_policy(SET CMP0116 NEW)  # the lint's list of files means the same to all generators
endif()

function(weir_lint_coroutines target)
    if(NOT TARGET "${target}")
        message(FATAL_ERROR "weir_lint_coroutines(${target}): there is no target '${target}' yet; make it before.")
    endif()
    get_target_property(folder "${target}" SOURCE_DIR)
    if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "weir_lint_coroutines(${target}): call it where the target is made, in ${folder}.")
    endif()
    find_package(Python3 COMPONENTS Interpreter QUIET)
    if(NOT Python3_Interpreter_FOUND)
        message(FATAL_ERROR "weir_lint_coroutines(${target}) needs Python 3, which was not found. Install it, set "
            "Python3_EXECUTABLE, or leave the call out where there is none.")
    endif()

    # The lint is beside this file if vcpkg or Conan installed it, or in a build folder; otherwise where CMake installs
    # it, or in the repository.
    find_file(lint NAMES lint_coroutines NO_CACHE NO_DEFAULT_PATH REQUIRED PATHS
        "${CMAKE_CURRENT_FUNCTION_LIST_DIR}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../weir"
        "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../compilers")

    # The target's own include directories, without those of libraries.
    get_target_property(headers "${target}" INCLUDE_DIRECTORIES)
    if(NOT headers)
        set(headers)
    endif()
    string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" within "${PROJECT_SOURCE_DIR}")
    set(headers "$<FILTER:${headers},INCLUDE,^${within}(/|$)>")
    set(sources "$<FILTER:$<TARGET_PROPERTY:${target},SOURCES>,INCLUDE,\\.([cChH]|[cCh][cCpPxX+][cCpPxX+]?[mM]?|cuh?|ixx)$>")

    set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${target}_lint_coroutines.stamp")
    add_custom_command(OUTPUT "${stamp}" DEPENDS "${sources}" "${lint}" DEPFILE "${stamp}.d"
        COMMAND Python3::Interpreter "${lint}" --stamp "${stamp}" --headers "${folder}"
            "$<$<BOOL:${headers}>:--headers;$<JOIN:${headers},;--headers;>>" "${sources}" ${ARGN}
        WORKING_DIRECTORY "${folder}" COMMENT "Looking for coroutine forms that g++ 12 miscompiles, in ${target}"
        COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(${target}_lint_coroutines DEPENDS "${stamp}")
    add_dependencies(${target} ${target}_lint_coroutines)

    # The lint says more than the note of the headers.
    get_target_property(type "${target}" TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
        target_compile_definitions(${target} PRIVATE WEIR_NO_COROUTINE_WARNING)
    endif()
endfunction()
