# For Windows, compiled on Linux with MinGW-w64 and run by Wine: cmake --toolchain <this file>. With CXX=clang++-19
# clang compiles for the same target. Debian: g++-mingw-w64-x86-64-posix, wine, wine64.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
list(APPEND CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)

# The variant with threads of C++. Linked statically, as its own libraries lie in no PATH of Windows.
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
if("$ENV{CXX}" MATCHES "clang")
    set(CMAKE_CXX_COMPILER $ENV{CXX})
    set(CMAKE_CXX_COMPILER_TARGET x86_64-w64-mingw32)
    # LLVM's linker (Debian: lld-19): that of GNU drops jump tables of clang's, and the program crashes.
    set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -pthread -fuse-ld=lld")
endif()
