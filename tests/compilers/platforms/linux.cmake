# For Linux on the processor of $WEIR_PROCESSOR, linked statically and run by qemu-user: see run.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $ENV{WEIR_PROCESSOR})
set(CMAKE_CXX_COMPILER $ENV{WEIR_PROCESSOR}-linux-gnu-g++)
# -pthread: g++ 12 for riscv64 then links libatomic, too, which has its exchange of a byte.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -pthread")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-$ENV{WEIR_PROCESSOR}-static)
list(APPEND CMAKE_FIND_ROOT_PATH /usr/$ENV{WEIR_PROCESSOR}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
