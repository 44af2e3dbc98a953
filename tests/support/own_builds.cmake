# Settings of our own tests, examples and benchmarks. Users of the library do not include this file.

set(CMAKE_CXX_EXTENSIONS OFF)

# Comma- or semicolon-separated: address, thread, undefined.
set(WEIR_SANITIZER "" CACHE STRING "Sanitizers for weir's tests and examples")
string(REPLACE "," ";" sanitizers "${WEIR_SANITIZER}")

# Warnings are errors only if the tests are built: an example must also build with newer compilers. Not with sanitizers,
# because g++ then gives false warnings (its manual advises against -Werror there).
if(MSVC)
    set(weir_warning_flags /W4 /permissive-)
else()
    set(weir_warning_flags -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
endif()
add_library(weir_warnings INTERFACE)
target_compile_options(weir_warnings INTERFACE ${weir_warning_flags})
# The test lint.house runs the lint on all files.
target_compile_definitions(weir_warnings INTERFACE WEIR_NO_COROUTINE_WARNING)
# No garbage collection of g++ below a gigabyte saves a tenth of its time; no function for each std::move saves 7 %.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    target_compile_options(weir_warnings INTERFACE --param=ggc-min-heapsize=1000000 -ffold-simple-inlines)
endif()
# Object files of Windows have 16-bit section numbers by default; clang enlarges them by itself.
if(MSVC)
    target_compile_options(weir_warnings INTERFACE /bigobj)
elseif(WIN32 AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(weir_warnings INTERFACE -Wa,-mbig-obj)
endif()
if(sanitizers)
    list(TRANSFORM sanitizers PREPEND -fsanitize= OUTPUT_VARIABLE sanitizer_flags)
    target_compile_options(weir_warnings INTERFACE
        ${sanitizer_flags} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(weir_warnings INTERFACE ${sanitizer_flags})
elseif(WEIR_BUILD_TESTS AND NOT MSVC)
    target_compile_options(weir_warnings INTERFACE -Werror)
endif()
# What links weir::compiled: `all` of it (tests/run --separate), or the `tests` alone, which then compile in two thirds of the time
# (tests/run). The interleavings and `tests/run NAME` use the library as most users do, without weir::compiled.
set(WEIR_TESTS_SEPARATE "no" CACHE STRING "What of weir's tests and examples links weir::compiled: no, tests, all")
mark_as_advanced(WEIR_TESTS_SEPARATE)
# .ci/run compiles it once, for the examples in Release; its tests link that. It is the same but for the assertions, of which weir
# has none.
set(WEIR_BUILT_COMPILED "" CACHE FILEPATH "The library of weir::compiled, which weir's tests link and don't build again")
mark_as_advanced(WEIR_BUILT_COMPILED)
set(weir_once weir_compiled)
if(WEIR_BUILT_COMPILED)
    set(weir_once weir_built_compiled)
    add_library(weir_built_compiled STATIC IMPORTED)
    set_target_properties(weir_built_compiled PROPERTIES IMPORTED_LOCATION "${WEIR_BUILT_COMPILED}")
    target_compile_definitions(weir_built_compiled INTERFACE WEIR_SEPARATE_COMPILATION)
    target_link_libraries(weir_built_compiled INTERFACE weir::weir)
endif()
add_library(weir_plain_tests INTERFACE)
target_link_libraries(weir_plain_tests INTERFACE weir::weir weir_warnings)
if(WEIR_TESTS_SEPARATE STREQUAL "all")
    target_compile_options(weir_compiled PRIVATE ${sanitizer_flags})
    target_link_libraries(weir_warnings INTERFACE weir_compiled)
elseif(WEIR_TESTS_SEPARATE STREQUAL "tests")
    target_link_libraries(weir_compiled PRIVATE weir_warnings)
    target_link_libraries(weir_plain_tests INTERFACE ${weir_once})
    # For the tests that are optimised. The others are compiled with -O0, which CMAKE_CXX_FLAGS_DEBUG has.
    if(NOT MSVC AND NOT sanitizers)
        target_compile_options(weir_compiled PRIVATE -O1)
    endif()
endif()

# Stand-alone Asio, for include/weir/asio/. It is header-only, and has no package file in Debian, Ubuntu
# and Homebrew.
find_path(WEIR_ASIO_INCLUDE_DIR asio.hpp DOC "Where asio.hpp is, for weir's tests and examples")
mark_as_advanced(WEIR_ASIO_INCLUDE_DIR)
if(WEIR_ASIO_INCLUDE_DIR)
    add_library(weir_asio INTERFACE IMPORTED)
    target_include_directories(weir_asio INTERFACE "${WEIR_ASIO_INCLUDE_DIR}")
    # Asio 1.22 does not detect coroutines of clang.
    target_compile_definitions(weir_asio INTERFACE ASIO_HAS_CO_AWAIT=1)
endif()

# libjpeg-turbo's own interface, for the example `images`. Debian's package file for CMake requires files of another
# package, so it is not used.
find_path(WEIR_TURBOJPEG_INCLUDE_DIR turbojpeg.h DOC "Where turbojpeg.h is, for weir's example images")
find_library(WEIR_TURBOJPEG_LIBRARY turbojpeg DOC "libturbojpeg, for weir's example images")
mark_as_advanced(WEIR_TURBOJPEG_INCLUDE_DIR WEIR_TURBOJPEG_LIBRARY)
if(WEIR_TURBOJPEG_INCLUDE_DIR AND WEIR_TURBOJPEG_LIBRARY)
    add_library(weir_turbojpeg INTERFACE IMPORTED)
    target_include_directories(weir_turbojpeg INTERFACE "${WEIR_TURBOJPEG_INCLUDE_DIR}")
    target_link_libraries(weir_turbojpeg INTERFACE "${WEIR_TURBOJPEG_LIBRARY}")
endif()

# MPI, for programs that mpirun starts. find_package takes a second, and is left out where there is no mpirun.
find_program(WEIR_MPIRUN mpirun DOC "What starts the ranks of weir's programs that need MPI")
mark_as_advanced(WEIR_MPIRUN)
if(WEIR_MPIRUN)
    find_package(MPI QUIET COMPONENTS CXX)
    if(TARGET MPI::MPI_CXX)
        add_library(weir_found_mpi INTERFACE IMPORTED)
        target_link_libraries(weir_found_mpi INTERFACE MPI::MPI_CXX)
        target_compile_definitions(weir_found_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    endif()
endif()

# As README advises for several files: all of them compile in less time. `examples/run` and `bench/run` build one, header-only.
option(WEIR_SEPARATE_PROGRAMS "Whether weir's examples and benchmarks link weir::compiled" OFF)
mark_as_advanced(WEIR_SEPARATE_PROGRAMS)
# With -O3 weir::compiled takes twice as long to compile as with -O1.
if(WEIR_SEPARATE_PROGRAMS AND WEIR_TESTS_SEPARATE STREQUAL "no")
    target_link_libraries(weir_compiled PRIVATE weir_warnings)
    if(NOT MSVC AND NOT sanitizers)
        target_compile_options(weir_compiled PRIVATE -O1)
    endif()
endif()
set(WEIR_HEADER_ONLY_PROGRAMS bench_contention)  # with a platform of its own

# weir_programs(FOLDER PREFIX RESULT): each *.cpp of the folder, and each folder with *.cpp in it, is a
# program of that name. Includes are relative to the folder. The target is PREFIX<name>; RESULT lists the
# added names. The variable needs_<name> lists imported targets that the program links; if one of them was not found, the
# program is left out with a message. The variable needs_<name of a source without .cpp> does the same for this
# source inside a folder.
function(weir_programs folder prefix result)
    set(base "${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
    file(GLOB sources CONFIGURE_DEPENDS RELATIVE "${base}" "${base}/*.cpp" "${base}/*/*.cpp")
    set(names ${sources})
    list(TRANSFORM names REPLACE "(/.*|[.]cpp)$" "")
    list(REMOVE_DUPLICATES names)
    # What takes longest to compile first, so that none is left over for one processor alone.
    foreach(name IN ITEMS performance_analysis simulate)
        if(name IN_LIST names)
            list(REMOVE_ITEM names ${name})
            list(PREPEND names ${name})
        endif()
    endforeach()
    set(added)
    foreach(name IN LISTS names)
        set(missing)
        foreach(need IN LISTS needs_${name})
            if(NOT TARGET ${need})
                list(APPEND missing ${need})
            endif()
        endforeach()
        if(missing)
            message(STATUS "weir: ${name} is left out: it needs ${missing}, which was not found")
            continue()
        endif()
        set(own ${sources})
        list(FILTER own INCLUDE REGEX "^${name}([.]cpp$|/)")
        set(target ${prefix}${name})
        set(own_needs)
        foreach(source IN LISTS own)
            cmake_path(GET source STEM stem)
            foreach(need IN LISTS needs_${stem})
                if(TARGET ${need})
                    list(APPEND own_needs ${need})
                else()
                    message(STATUS "weir: ${source} is left out: it needs ${need}, which was not found")
                    list(REMOVE_ITEM own ${source})
                endif()
            endforeach()
        endforeach()
        list(TRANSFORM own PREPEND "${base}/")
        add_executable(${target} ${own})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
        target_include_directories(${target} PRIVATE "${base}")
        target_link_libraries(${target} PRIVATE weir::weir weir_warnings ${own_needs}
            ${needs_${name}})
        if(WEIR_SEPARATE_PROGRAMS AND NOT ${target} IN_LIST WEIR_HEADER_ONLY_PROGRAMS)
            target_link_libraries(${target} PRIVATE ${weir_once})
        endif()
        list(APPEND added ${name})
    endforeach()
    set(${result} ${added} PARENT_SCOPE)
endfunction()
