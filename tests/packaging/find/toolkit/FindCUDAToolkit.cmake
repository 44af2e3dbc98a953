# A toolkit for machines that have none: the tests link nothing to it.
set(CUDAToolkit_FOUND TRUE)
if(NOT TARGET CUDA::cudart)
    add_library(CUDA::cudart INTERFACE IMPORTED)
endif()
