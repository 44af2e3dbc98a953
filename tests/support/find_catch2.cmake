# Catch2 3, or 2.13 and later 2.x: the package; or the single header of version 2, in the folder that WEIR_CATCH2_HEADER
# names, or in a folder that CMake searches. A machine may have the headers of version 3 without their library and
# package: these can't be linked, and are not used. Sets Catch2_VERSION, and makes the target Catch2::Catch2.
set(WEIR_CATCH2_HEADER "$ENV{WEIR_CATCH2_HEADER}" CACHE PATH
    "A folder with catch2/catch.hpp, the single header of Catch2 2.13, to be used instead of an installed Catch2")

# weir_use_catch2_header(FOLDER): the single header, if the folder has it.
macro(weir_use_catch2_header folder)
    if(EXISTS "${folder}/catch2/catch.hpp")
        file(STRINGS "${folder}/catch2/catch.hpp" catch2_lines REGEX "CATCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+" LIMIT_COUNT 3)
        string(REGEX REPLACE "[^0-9;]" "" catch2_numbers "${catch2_lines}")
        list(JOIN catch2_numbers "." Catch2_VERSION)
        if(Catch2_VERSION VERSION_GREATER_EQUAL 2.13 AND Catch2_VERSION VERSION_LESS 3)
            add_library(Catch2::Catch2 INTERFACE IMPORTED GLOBAL)
            target_include_directories(Catch2::Catch2 INTERFACE "${folder}")
            set(Catch2_FOUND TRUE)
        endif()
    endif()
endmacro()

set(Catch2_FOUND FALSE)
if(WEIR_CATCH2_HEADER)
    weir_use_catch2_header("${WEIR_CATCH2_HEADER}")
    if(NOT Catch2_FOUND)
        message(FATAL_ERROR "weir: WEIR_CATCH2_HEADER is ${WEIR_CATCH2_HEADER}, which has no catch2/catch.hpp of "
            "Catch2 2.13 or a later 2.x. Name the folder that has the folder catch2.")
    endif()
else()
    find_package(Catch2 3 CONFIG QUIET)
    if(NOT Catch2_FOUND)
        find_package(Catch2 2.13 CONFIG QUIET)
    endif()
    if(NOT Catch2_FOUND)
        find_path(catch2_header catch2/catch.hpp)
        mark_as_advanced(catch2_header)
        weir_use_catch2_header("${catch2_header}")
    endif()
endif()
if(NOT Catch2_FOUND)
    find_path(catch2_3_headers catch2/catch_test_macros.hpp)
    mark_as_advanced(catch2_3_headers)
    set(why)
    if(catch2_3_headers)
        set(why "The headers of Catch2 3 in ${catch2_3_headers} are without their library. ")
    endif()
    message(FATAL_ERROR "weir: the tests need Catch2 3, or 2.13 and later 2.x. ${why}Install the package "
        "`catch2` (that is its name in Debian, Ubuntu, vcpkg and Conan), run tests/run, which does so "
        "where it may, configure with -DWEIR_BUILD_TESTS=OFF, or download the single header of version 2.13, "
        "catch2/catch.hpp, and name its folder (the one that has catch2) by the environment variable WEIR_CATCH2_HEADER.")
endif()
string(REGEX MATCH "^[0-9]+" catch2_major "${Catch2_VERSION}")
