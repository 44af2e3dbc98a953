# cmake -DOUT=<folder> -P stand_in.cmake: runs the port into OUT/packages like vcpkg, if vcpkg is not installed, and makes
# vcpkg's own checks. The functions do what those of vcpkg do for such a port.
cmake_minimum_required(VERSION 3.24)
set(PORT weir)
set(CURRENT_PORT_DIR "${CMAKE_CURRENT_LIST_DIR}/ports/weir")
set(CURRENT_PACKAGES_DIR "${OUT}/packages")
file(READ "${CURRENT_PORT_DIR}/vcpkg.json" manifest)
string(JSON VERSION GET "${manifest}" version)

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 asked "" SOURCE_PATH OPTIONS)
    run("${CMAKE_COMMAND}" -S "${asked_SOURCE_PATH}" -B "${OUT}/build" -DCMAKE_BUILD_TYPE=Release
        "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${asked_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
    run("${CMAKE_COMMAND}" --build "${OUT}/build" --target install)
endfunction()

# The folder moves up by one level, so the prefix in the files changes, too.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 asked "" CONFIG_PATH "")
    set(folder "${CURRENT_PACKAGES_DIR}/${asked_CONFIG_PATH}")
    file(GLOB files "${folder}/*")
    file(COPY ${files} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
    file(REMOVE_RECURSE "${folder}")
    cmake_path(GET folder PARENT_PATH folder)
    file(GLOB left "${folder}/*")
    if(NOT left)
        file(REMOVE_RECURSE "${folder}")
    endif()
    set(targets "${CURRENT_PACKAGES_DIR}/share/${PORT}/${PORT}-targets.cmake")
    file(READ "${targets}" text)
    set(up "get_filename_component\\(_IMPORT_PREFIX \"[^\"]*\" PATH\\)\n")
    string(REGEX REPLACE "(${up})+"
        "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_DIR}/../..\" ABSOLUTE)\n"
        text "${text}")
    file(WRITE "${targets}" "${text}")
endfunction()

function(vcpkg_fixup_pkgconfig)
    file(STRINGS "${CURRENT_PACKAGES_DIR}/share/pkgconfig/${PORT}.pc" libraries REGEX "^Libs:.*[^ ]")
    if(libraries)
        message(FATAL_ERROR "vcpkg refuses libraries in share/pkgconfig: ${libraries}")
    endif()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 asked "" "" FILE_LIST)
    file(COPY_FILE "${asked_FILE_LIST}" "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright")
endfunction()

file(REMOVE_RECURSE "${OUT}")
include("${CURRENT_PORT_DIR}/portfile.cmake")

file(GLOB folders RELATIVE "${CURRENT_PACKAGES_DIR}"
    "${CURRENT_PACKAGES_DIR}/*" "${CURRENT_PACKAGES_DIR}/share/*")
if(NOT folders STREQUAL "include;share;share/pkgconfig;share/weir")
    message(FATAL_ERROR "the package holds other folders than expected: ${folders}")
endif()
foreach(name IN ITEMS include/weir/weir.hpp share/weir/lint_coroutines share/weir/copyright share/weir/weir-config.cmake
    share/weir/weir-config-version.cmake)
    if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/${name}")
        message(FATAL_ERROR "the package has no ${name}")
    endif()
endforeach()
