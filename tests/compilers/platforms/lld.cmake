# Links with LLVM's linker: through clang, as Debian's g++ for Windows ignores -fuse-ld. After `project`, which sets the rule
# for Windows. LLVM's archiver, if it is there, too: that of GNU takes 20 s for the main function of Catch2.
set(CMAKE_CXX_LINK_EXECUTABLE
    "clang++-19 --target=x86_64-w64-mingw32 -static -fuse-ld=lld <OBJECTS> -o <TARGET> <LINK_LIBRARIES> -lpthread")
if(EXISTS /usr/lib/llvm-19/bin/llvm-ar AND EXISTS /usr/lib/llvm-19/bin/llvm-ranlib)
    set(CMAKE_AR /usr/lib/llvm-19/bin/llvm-ar)
    set(CMAKE_RANLIB /usr/lib/llvm-19/bin/llvm-ranlib)
endif()
