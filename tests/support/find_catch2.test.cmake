# cmake -DFOLDER=... -P find_catch2.test.cmake: which Catch2 find_catch2.cmake takes, on machines that are made up in FOLDER.
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE "${FOLDER}")
file(WRITE "${FOLDER}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.22)
project(which LANGUAGES NONE)
include(\"${CMAKE_CURRENT_LIST_DIR}/find_catch2.cmake\")
get_target_property(folder Catch2::Catch2 INTERFACE_INCLUDE_DIRECTORIES)
message(STATUS \"takes \${Catch2_VERSION}, \${catch2_major}, in \${folder}\")
")
file(WRITE "${FOLDER}/three/include/catch2/catch_test_macros.hpp" "")
foreach(machine IN ITEMS both/include two)
    file(WRITE "${FOLDER}/${machine}/catch2/catch.hpp" "#define CATCH_VERSION_MAJOR 2\n#define CATCH_VERSION_MINOR 13\n
        #define CATCH_VERSION_PATCH 10\n")
endforeach()
file(WRITE "${FOLDER}/both/include/catch2/catch_test_macros.hpp" "")
file(WRITE "${FOLDER}/old/catch2/catch.hpp" "#define CATCH_VERSION_MAJOR 2\n#define CATCH_VERSION_MINOR 4\n
    #define CATCH_VERSION_PATCH 1\n")

set(number 0)
# expect(PREFIX HEADER WORDS): what is said where PREFIX has headers, and WEIR_CATCH2_HEADER is HEADER.
function(expect prefix header words)
    math(EXPR number "${number} + 1")
    set(number ${number} PARENT_SCOPE)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env "WEIR_CATCH2_HEADER=${header}" "${CMAKE_COMMAND}" -S "${FOLDER}"
        -B "${FOLDER}/build${number}" "-DCMAKE_PREFIX_PATH=${FOLDER}/${prefix}" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF
        -DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -G "Unix Makefiles"
        "-DCMAKE_MAKE_PROGRAM=${CMAKE_COMMAND}"
        OUTPUT_VARIABLE said ERROR_VARIABLE said)
    string(REGEX REPLACE "[ \n]+" " " said "${said}")
    string(FIND "${said}" "${words}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "expected: ${words}\nsaid: ${said}")
    endif()
endfunction()

expect(three "" "The headers of Catch2 3 in ${FOLDER}/three/include are without their library.")
expect(three "" "by the environment variable WEIR_CATCH2_HEADER.")
expect(three "${FOLDER}/two" "takes 2.13.10, 2, in ${FOLDER}/two")
expect(both "" "takes 2.13.10, 2, in ${FOLDER}/both/include")
expect(both "${FOLDER}/three" "has no catch2/catch.hpp")
expect(none "${FOLDER}/old" "has no catch2/catch.hpp")
expect(none "" "the tests need Catch2 3, or 2.13 and later 2.x. Install")
