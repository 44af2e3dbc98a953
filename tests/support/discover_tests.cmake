# cmake -DPROGRAM=<path> -DCATCH=<major version> -DPREFIX=<text> -DTESTS=<file> -P discover_tests.cmake
# Writes a test of ctest for each test case of a Catch2 program. Catch2's own catch_discover_tests keeps
# the names in a CMake list, so that `;` or a lone `]` in one of them loses others; ours are sentences.
if(CATCH LESS 3)
    set(list_names --list-test-names-only)
    # Otherwise a name that selects no test case counts as a test passed.
    set(run_options " --warn NoTests")
else()
    set(list_names --list-tests --verbosity quiet)
endif()

# Catch2 2 exits with the number of names.
execute_process(COMMAND "${PROGRAM}" ${list_names} RESULT_VARIABLE result OUTPUT_VARIABLE names)
if(NOT result MATCHES "^[0-9]+$" OR NOT names MATCHES "[^\n]")
    message(FATAL_ERROR "${PROGRAM} lists no test cases (${result}):\n${names}")
endif()

set(script)
while(names MATCHES "^\n*([^\n]+)\n(.*)$")
    set(name "${CMAKE_MATCH_1}")
    set(names "${CMAKE_MATCH_2}")
    string(REGEX REPLACE "([],[\\])" "\\\\\\1" pattern "${name}")
    set(test "[====[${PREFIX}${name}]====]")
    string(APPEND script
        "add_test(${test} [====[${PROGRAM}]====] [====[${pattern}]====]${run_options})\n"
        "set_tests_properties(${test} PROPERTIES TIMEOUT 300)\n")
endwhile()
file(WRITE "${TESTS}" "${script}")
