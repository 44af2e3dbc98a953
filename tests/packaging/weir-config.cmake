# What find_package(weir) reads; installed as it is.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/weir-targets.cmake")

# What is optional exists only where it is asked for.
foreach(component IN LISTS weir_FIND_COMPONENTS)
    set(weir_${component}_FOUND FALSE)
    if(component STREQUAL "cuda")
        find_package(CUDAToolkit QUIET)
        if(TARGET CUDA::cudart)
            set(weir_cuda_FOUND TRUE)
            # Not by its name: vcpkg reads here what to tell users, and this is only there if asked for.
            if(NOT TARGET weir::${component})
                add_library(weir::${component} INTERFACE IMPORTED)
                set_property(TARGET weir::${component}
                    PROPERTY INTERFACE_LINK_LIBRARIES weir::weir CUDA::cudart)
            endif()
        endif()
        set(missing "weir::cuda needs the CUDA toolkit, which was not found. Install it, set \
CUDAToolkit_ROOT to its folder, or ask for it by OPTIONAL_COMPONENTS.")
    else()
        set(missing "weir has no component '${component}'; its only one is cuda.")
    endif()
    if(weir_FIND_REQUIRED_${component} AND NOT weir_${component}_FOUND)
        set(weir_FOUND FALSE)
        set(weir_NOT_FOUND_MESSAGE "${missing}")
    endif()
endforeach()
unset(missing)
