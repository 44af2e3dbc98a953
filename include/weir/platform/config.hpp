// weir platform, internal: required compilers, differences between compilers and libraries, and all macros
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_CONFIG_HPP
#define WEIR_PLATFORM_CONFIG_HPP

// Required compilers. Each header includes this one first, directly or not (tests/house/house.py checks
// that). So a compiler that can't compile weir reports one of these sentences as its first error. Apple's
// clang has other version numbers: its 15 corresponds to LLVM's 16.
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

// g++ 11 and 12 do not warn of the coroutines that they miscompile. The note below appears once in each
// translation unit, and -Werror does not turn the note into an error. Which compilers miscompile which form:
// tests/compilers/canaries/versions.md.
#if defined(__GNUC__) && __GNUC__ < 13 && !defined(__clang__) && !defined(__CUDA_ARCH__) && \
    !defined(WEIR_NO_COROUTINE_WARNING)
#pragma message( \
    "weir: g++ before 13 miscompiles some coroutines without a warning. Let the lint look at yours: \
weir_lint_coroutines(target) in CMake, else tests/compilers/lint_coroutines PATH...; \
-DWEIR_NO_COROUTINE_WARNING silences this")
#endif

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>  // for abi::__cxa_demangle, abi::__cxa_current_exception_type
#include <cstdlib>   // for std::free
#endif
#include <cstddef>          // for std::size_t
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <string_view>      // for std::string_view
#include <typeinfo>         // for typeid, std::type_info

// Prevents inlining. A function that returns an address of thread-local data must not be inlined into a
// coroutine: the compiler would reuse the address after the coroutine has moved to another thread.
#if defined(_MSC_VER) && !defined(__clang__)
#define WEIR_NOINLINE __declspec(noinline)
#else
#define WEIR_NOINLINE [[gnu::noinline]]
#endif

// Forces inlining.
#if defined(_MSC_VER) && !defined(__clang__)
#define WEIR_ALWAYS_INLINE __forceinline
#else
#define WEIR_ALWAYS_INLINE [[gnu::always_inline]] inline
#endif

// Selects the Asio library for the headers in asio/: standalone Asio if found, else Boost.Asio; with
// WEIR_USE_BOOST_ASIO always Boost's. These headers define their types in the inline namespace
// WEIR_ASIO_KIND, so one program may use one library in some files and the other in others. No Asio header is
// included here. NOLINTBEGIN(bugprone-macro-parentheses): a header's name
#if defined(WEIR_USE_BOOST_ASIO) || !__has_include(<asio/io_context.hpp>)
#define WEIR_ASIO_FILE(name) <boost/asio/name>
#define WEIR_ASIO_LIBRARY boost::asio
#define WEIR_ASIO_KIND with_boost
#else
#define WEIR_ASIO_FILE(name) <asio/name>
#define WEIR_ASIO_LIBRARY asio
#define WEIR_ASIO_KIND standalone
#endif
// NOLINTEND(bugprone-macro-parentheses)

// WEIR_SEPARATE_COMPILATION is for projects of many files. Long functions that do not depend on an item type
// are then compiled only in the source file that includes weir/src.hpp, or in CMake's target weir::compiled.
// A program has exactly one of the two; otherwise the linker reports the name of the function below. Except
// on Windows, files that are compiled without the macro can be linked as well.
//
// WEIR_INLINE is for the functions in .ipp files. A header includes its .ipp file at the end; but with
// WEIR_SEPARATE_COMPILATION only weir/src.hpp does so, unless the functions are templates. Virtual functions
// have WEIR_INLINE in their class, too. Otherwise the first of them would be the key function of the class,
// and each file would compile all of them, used or not. WEIR_COMPILED names a template that weir/src.hpp
// instantiates.
#if defined(WEIR_SEPARATE_COMPILATION)
#define WEIR_INLINE
#define WEIR_COMPILED(...) extern template __VA_ARGS__
namespace weir::detail {
inline constexpr bool compiled_separately = true;
void one_source_file_has_to_include_weir_src_hpp_or_link_weir_compiled();
[[gnu::used]] static void (*const compiled_once)() =
    one_source_file_has_to_include_weir_src_hpp_or_link_weir_compiled;
}  // namespace weir::detail
#else
#define WEIR_INLINE inline
#define WEIR_COMPILED(...) static_assert(true)
namespace weir::detail {
inline constexpr bool compiled_separately = false;
}
#endif

namespace weir::detail {

// Returns the pointer through a register. g++ moves two adjacent pointers by one load of 16 bytes; directly
// after two stores of 8 bytes this defeats store forwarding and costs 4 ns.
template <class T>
T* in_register(T* p) noexcept {
#if defined(__GNUC__)
    asm("" : "+r"(p));
#endif
    return p;
}

// A namespace of its own: in a function's signature, g++ shortens the names of types in the namespace of that
// function. Here names of types in weir::detail stay complete.
namespace signatures {

// The signature of this function as the compiler writes it; it contains the name of T.
template <class T>
constexpr const char* signature_with() noexcept {
#if defined(_MSC_VER) && !defined(__clang__)
    return __FUNCSIG__;
#else
    return __PRETTY_FUNCTION__;
#endif
}

}  // namespace signatures

// The name of a type as the compiler writes it, which differs between compilers.
template <class T>
constexpr std::string_view type_text() noexcept {
    constexpr std::string_view known = signatures::signature_with<double>();
    constexpr std::size_t before = known.find("double");
    constexpr std::size_t around = known.size() - std::string_view("double").size();
    constexpr std::string_view whole = signatures::signature_with<T>();
    return whole.substr(before, whole.size() - around);
}

// Converts a result of `typeid(...).name()` into the name as written in a program. Returns `name` itself if
// the compiler can't convert it.
inline std::string demangled(const char* name) {
#if __has_include(<cxxabi.h>)
    char* const text = abi::__cxa_demangle(name, nullptr, nullptr, nullptr);
    const std::string result = text == nullptr ? name : text;
    std::free(text);
    return result;
#else
    return name;
#endif
}

// The `typeid(...).name()` of the exception that is being handled; null if there is none, or if the compiler
// can't tell.
inline const char* name_of_current_exception_type() noexcept {
#if __has_include(<cxxabi.h>)
    const std::type_info* const type = abi::__cxa_current_exception_type();
    return type == nullptr ? nullptr : type->name();
#else
    return nullptr;
#endif
}

// The dynamic type of an object; null with -fno-rtti, here or in the file that constructed the object. The
// register keeps the compiler from assuming that the address of a type_info is not null.
template <class T>
const std::type_info* type_of([[maybe_unused]] const T& object) noexcept {
#if defined(__cpp_rtti) || defined(_CPPRTTI)
    return in_register(&typeid(object));
#else
    return nullptr;
#endif
}

// The largest supported alignment of items, results and locals of coroutines, in bytes.
inline constexpr std::size_t most_frame_alignment = 64;
template <class T>
constexpr bool fits_a_frame() {
    static_assert(alignof(T) <= most_frame_alignment,
                  "weir: items and results may be aligned to 64 bytes, as the frames of coroutines are; "
                  "hold what wants more by a std::unique_ptr");
    return true;
}

// For operator new and delete of a promise: the alignment of the coroutine's frame, or more. clang gives the
// exact value, but only inside of the coroutine: so this function is always inlined. g++ makes the size a
// multiple of the alignment: so the largest power of two that divides the size is enough.
WEIR_ALWAYS_INLINE std::size_t frame_alignment([[maybe_unused]] std::size_t size) noexcept {
#if defined(__clang__)
    return __builtin_coro_align();
#elif defined(__GNUC__)
    return size & (~size + 1);
#else
    return most_frame_alignment;
#endif
}

// Whether coroutine frames are pooled: not under sanitizers, which have to see each allocation.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool pools_frames = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool pools_frames = false;
#else
inline constexpr bool pools_frames = true;
#endif
#else
inline constexpr bool pools_frames = true;
#endif

// std::source_location for default member initialisers: `call_place::current()` is the location of the code
// that constructs the object. Empty under nvcc 13, whose front end has an internal error at such a member.
#if defined(__CUDACC__)
struct call_place {
    static constexpr std::source_location current() noexcept { return {}; }
};
#else
using call_place = std::source_location;
#endif

}  // namespace weir::detail

#endif
