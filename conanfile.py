import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout
from conan.tools.scm import Version

required_conan_version = ">=2.3"  # older versions ignore test_package_folder, and would test nothing


class WeirConan(ConanFile):
    name = "weir"
    description = "Coroutine stages over bounded channels, which tell where the time went"
    license = "BSL-1.0"
    topics = ("coroutines", "pipeline", "concurrency", "profiling", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    exports_sources = "include/*", "CMakeLists.txt", "tests/packaging/*.cmake", "tests/compilers/lint_coroutines", \
        "LICENSE"
    generators = "CMakeToolchain"
    no_copy_source = True
    test_package_folder = "tests/packaging/conan-center/all/test_package"

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include", "weir", "version.hpp"))
        self.version = ".".join(re.findall(r"define WEIR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def layout(self):
        basic_layout(self)

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        # Conan accepts older compilers, too, if they are set to C++20.
        oldest = {"gcc": "12", "clang": "16"}.get(str(self.settings.compiler))
        if oldest and Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"weir needs {self.settings.compiler} {oldest} or later")

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        cmake = CMake(self)
        cmake.configure({"WEIR_BUILD_TESTS": False, "WEIR_BUILD_EXAMPLES": False, "WEIR_BUILD_BENCH": False})
        cmake.install()

    def package_info(self):
        # CMake finds its own package files, not files of Conan, so components and versions are checked as without Conan.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "weir")]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs.append("pthread")
