import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, get
from conan.tools.layout import basic_layout
from conan.tools.scm import Version

required_conan_version = ">=2.1"


class WeirConan(ConanFile):
    name = "weir"
    description = "Coroutine stages over bounded channels, which tell where the time went"
    license = "BSL-1.0"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "https://github.com/OWNER/weir"
    topics = ("coroutines", "pipeline", "concurrency", "profiling", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def layout(self):
        basic_layout(self, src_folder="src")

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        # Conan takes older ones too, if they are told to compile as C++20.
        oldest = {"gcc": "12", "clang": "16"}.get(str(self.settings.compiler))
        if oldest and Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"{self.ref} needs {self.settings.compiler} {oldest} or later")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def build(self):
        pass

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for pattern in "*.hpp", "*.ipp", "*.cppm":
            copy(self, pattern, os.path.join(self.source_folder, "include"),
                 os.path.join(self.package_folder, "include"))
        for folder, name in (("packaging", "weir-components.cmake"), ("packaging", "weir-lint.cmake"),
                             ("compilers", "lint_coroutines")):
            copy(self, name, os.path.join(self.source_folder, "tests", folder),
                 os.path.join(self.package_folder, "lib", "cmake"))

    def package_info(self):
        # As CMake's own package judges them.
        self.cpp_info.set_property("cmake_config_version_compat", "SameMinorVersion")
        self.cpp_info.set_property("cmake_build_modules", [
            os.path.join("lib", "cmake", name) for name in ("weir-components.cmake", "weir-lint.cmake")])
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs.append("pthread")
