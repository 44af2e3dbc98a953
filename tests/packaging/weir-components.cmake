# Which of the components that find_package(weir COMPONENTS ...) asks for there are; beside weir-config.cmake, and with
# Conan after the files that it makes.
foreach(_weir_component IN LISTS weir_FIND_COMPONENTS)
    set(weir_${_weir_component}_FOUND FALSE)
    if(_weir_component STREQUAL "cuda")
        find_package(CUDAToolkit QUIET)
        if(TARGET CUDA::cudart)
            set(weir_cuda_FOUND TRUE)
            # Not by its name: vcpkg reads here what to tell users, and this is only there if asked for.
            if(NOT TARGET weir::${_weir_component})
                add_library(weir::${_weir_component} INTERFACE IMPORTED)
                set_property(TARGET weir::${_weir_component}
                    PROPERTY INTERFACE_LINK_LIBRARIES weir::weir CUDA::cudart)
            endif()
        endif()
        set(_weir_missing "weir::cuda needs the CUDA toolkit, which was not found. Install it, set \
CUDAToolkit_ROOT to its folder, or ask for it by OPTIONAL_COMPONENTS.")
    else()
        set(_weir_missing "weir has no component '${_weir_component}'; its only one is cuda.")
    endif()
    if(weir_FIND_REQUIRED_${_weir_component} AND NOT weir_${_weir_component}_FOUND)
        set(weir_FOUND FALSE)
        set(weir_NOT_FOUND_MESSAGE "${_weir_missing}")
    endif()
endforeach()
unset(_weir_component)
unset(_weir_missing)
