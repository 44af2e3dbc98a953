# weir::cuda, weir::mpi and weir::module, by WEIR_CUDA, WEIR_MPI and WEIR_MODULE.

# Only on request, because it needs the CUDA toolkit. In the installed package the same target is the component `cuda`,
# whatever was set here.
if(WEIR_CUDA)
    find_package(CUDAToolkit QUIET)
    if(NOT TARGET CUDA::cudart)
        message(FATAL_ERROR "weir: WEIR_CUDA is on, and the CUDA toolkit was not found. Install it, set "
            "CUDAToolkit_ROOT to its folder, or turn WEIR_CUDA off.")
    endif()
    add_library(weir_cuda INTERFACE)
    add_library(weir::cuda ALIAS weir_cuda)
    target_link_libraries(weir_cuda INTERFACE weir CUDA::cudart)
endif()

# The same for MPI. Its C++ bindings, which MPI 3 has removed, are left out: they would be another library.
if(WEIR_MPI)
    find_package(MPI QUIET COMPONENTS CXX)
    if(NOT TARGET MPI::MPI_CXX)
        message(FATAL_ERROR "weir: WEIR_MPI is on, and MPI was not found. Install Open MPI or MPICH, set MPI_HOME to its "
            "folder, or turn WEIR_MPI off.")
    endif()
    add_library(weir_mpi INTERFACE)
    add_library(weir::mpi ALIAS weir_mpi)
    target_link_libraries(weir_mpi INTERFACE weir MPI::MPI_CXX)
    target_compile_definitions(weir_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endif()

# The module, compiled once per project: its compiled interface works only with the flags that it was compiled with. So the
# installed package has none.
if(WEIR_MODULE)
    if(CMAKE_VERSION VERSION_LESS 3.28)
        message(FATAL_ERROR "weir: WEIR_MODULE is on, and this is CMake ${CMAKE_VERSION}: targets with modules need "
            "3.28. Compile include/weir/module/weir.cppm by its own command (see README.md), or turn WEIR_MODULE off.")
    endif()
    add_library(weir_module STATIC)
    add_library(weir::module ALIAS weir_module)
    target_sources(weir_module PUBLIC
        FILE_SET CXX_MODULES BASE_DIRS include FILES include/weir/module/weir.cppm)
    target_link_libraries(weir_module PUBLIC weir)
endif()
