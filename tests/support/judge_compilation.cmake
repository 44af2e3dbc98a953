# cmake -DCOMPILE=<command> -DSOURCE=<file> -P judge_compilation.cmake
# A *.pass.cpp must compile. A *.fail.cpp must not compile: the first error line of the compiler must contain the text of
# the file's first line, `// expect-error: <text>`. The second line has the rule in a sentence.
# (tests/house/refusals.py does the same with another compiler.)
execute_process(COMMAND ${COMPILE} "${SOURCE}"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(SOURCE MATCHES "[.]pass[.]cpp$")
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "This has to compile, and does not (${result}):\n${output}")
    endif()
    return()
endif()

file(READ "${SOURCE}" text)
if(NOT text MATCHES "^// expect-error: ([^\n]+)\n// ([^\n]+)\n")
    message(FATAL_ERROR "Line 1 has to be `// expect-error: <text>`, line 2 the rule as a comment.")
endif()
set(expected "${CMAKE_MATCH_1}")
set(rule "${CMAKE_MATCH_2}")
if(result EQUAL 0)
    message(FATAL_ERROR "This compiles, and must not: ${rule}")
endif()
string(REGEX MATCH "[^\n]*error: [^\n]*" first "${output}")
string(FIND "${first}" "${expected}" found)
if(found EQUAL -1)
    message(FATAL_ERROR "The compiler does not say first: ${expected}\nIt says:\n${output}")
endif()
