set(VCPKG_BUILD_TYPE release) # header-only

# This port installs the checkout that it lies in. A registry's takes a release instead, and says in vcpkg.json
# which homepage it is from:
# vcpkg_from_github(OUT_SOURCE_PATH SOURCE_PATH REPO <owner>/weir REF "v${VERSION}" SHA512 <hash> HEAD_REF main)
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../../.." ABSOLUTE)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DWEIR_BUILD_TESTS=OFF
        -DWEIR_BUILD_EXAMPLES=OFF
        -DWEIR_BUILD_BENCH=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/weir)
vcpkg_fixup_pkgconfig()

vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
