// weir platform, internal: required compilers; the first error of any other is one of these sentences
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_REQUIREMENTS_HPP
#define WEIR_PLATFORM_REQUIREMENTS_HPP

// Each header includes this one first, directly or not; tests/house/house.py checks that.

// Apple's clang has other version numbers: its 15 corresponds to LLVM's 16.
#if defined(__clang__) && (defined(__apple_build_version__) ? __clang_major__ < 15 : __clang_major__ < 16)
#error "weir: needs clang 16 or later (Apple's 15): earlier ones have no complete C++20 coroutines"
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 11
#error "weir: needs g++ 11 or later; what is tested is 12 and later"
#elif defined(_MSC_VER) && !defined(__clang__) && _MSC_VER < 1932
#error "weir: needs Visual Studio 2022 17.2 or later"
#endif

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "weir: needs C++20; compile with -std=c++20 (MSVC: /std:c++20)"
#endif

#if !defined(__cpp_exceptions) && !defined(__EXCEPTIONS) && !defined(_CPPUNWIND)
#error "weir: needs exceptions: what a stage throws is how it fails; compile without -fno-exceptions"
#endif

#include <version>  // for the library's feature macros

#if !defined(__cpp_impl_coroutine) && !defined(__cpp_lib_coroutine)
#error "weir: this compiler has no C++20 coroutines; use g++ 12, clang 16 or later"
#endif

#endif
