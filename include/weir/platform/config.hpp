// weir platform, internal: everything that differs between compilers and their libraries; every macro
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_CONFIG_HPP
#define WEIR_PLATFORM_CONFIG_HPP

#include <weir/platform/requirements.hpp>

// What no warning of that compiler says: once in each translation unit, as a note, which -Werror lets pass.
// Which compilers get what wrong: tests/compilers/canaries/versions.md.
#if defined(__GNUC__) && __GNUC__ < 13 && !defined(__clang__) && !defined(__CUDA_ARCH__) && \
    !defined(WEIR_NO_COROUTINE_WARNING)
#pragma message( \
    "weir: g++ 12 miscompiles some coroutines without a warning. Let the lint look at yours: \
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

// Keeps a function out of its caller: an address of thread-local data that it computes is then
// computed anew on each call, also when a coroutine has changed threads in between.
#if defined(_MSC_VER) && !defined(__clang__)
#define WEIR_NOINLINE __declspec(noinline)
#else
#define WEIR_NOINLINE [[gnu::noinline]]
#endif

// Puts a function into its caller, where the compiler would rather call it: see the places that say so.
#if defined(_MSC_VER) && !defined(__clang__)
#define WEIR_ALWAYS_INLINE __forceinline
#else
#define WEIR_ALWAYS_INLINE [[gnu::always_inline]] inline
#endif

// Which Asio the headers in asio/ are for: the one of its own where it is found, else Boost's; Boost's at
// once where WEIR_USE_BOOST_ASIO is defined. They are of different types then, so that both may be in one
// program. Nothing is included unless such a header is.
// NOLINTBEGIN(bugprone-macro-parentheses): a header's name
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

// With WEIR_SEPARATE_COMPILATION, for big projects: an instantiation that has no item type is compiled in
// the one source file that includes weir/src.hpp, or in CMake's target weir::compiled, and in no other. A
// program that has neither, or both, hears it from the linker by the name of this function. Where some files
// are compiled without, nothing clashes.
#if defined(WEIR_SEPARATE_COMPILATION)
#define WEIR_COMPILED(...) extern template __VA_ARGS__
namespace weir::detail {
inline constexpr bool compiled_separately = true;
void one_source_file_has_to_include_weir_src_hpp_or_link_weir_compiled();
[[gnu::used]] static void (*const compiled_once)() =
    one_source_file_has_to_include_weir_src_hpp_or_link_weir_compiled;
}  // namespace weir::detail
#else
#define WEIR_COMPILED(...) static_assert(true)
namespace weir::detail {
inline constexpr bool compiled_separately = false;
}
#endif

namespace weir::detail {

// Gives the pointer back by way of a register. Of two pointers that are moved side by side g++ makes
// one load of 16 bytes; right behind the two stores of 8 that put them there, it waits 4 ns for those.
template <class T>
T* in_register(T* p) noexcept {
#if defined(__GNUC__)
    asm("" : "+r"(p));
#endif
    return p;
}

// Names in what stands here are written out: of what lies beside it g++ leaves out where that is.
namespace signatures {

// What the compiler calls this function: the name of T is in it.
template <class T>
constexpr const char* signature_with() noexcept {
#if defined(_MSC_VER) && !defined(__clang__)
    return __FUNCSIG__;
#else
    return __PRETTY_FUNCTION__;
#endif
}

}  // namespace signatures

// The name of a type as the compiler writes it, which differs from one to the next.
template <class T>
constexpr std::string_view type_text() noexcept {
    constexpr std::string_view known = signatures::signature_with<double>();
    constexpr std::size_t before = known.find("double");
    constexpr std::size_t around = known.size() - std::string_view("double").size();
    constexpr std::string_view whole = signatures::signature_with<T>();
    return whole.substr(before, whole.size() - around);
}

// What `typeid(...).name()` gives, as it is written in a program.
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

// The `typeid(...).name()` of the exception that is being handled; null where the compiler doesn't tell.
inline const char* name_of_current_exception_type() noexcept {
#if __has_include(<cxxabi.h>)
    const std::type_info* const type = abi::__cxa_current_exception_type();
    return type == nullptr ? nullptr : type->name();
#else
    return nullptr;
#endif
}

// An object's own type; null where the compiler was told to know nothing of that (-fno-rtti), here or in the
// file that made the object. Of the second the compiler knows nothing: hence the register.
template <class T>
const std::type_info* type_of([[maybe_unused]] const T& object) noexcept {
#if defined(__cpp_rtti) || defined(_CPPRTTI)
    return in_register(&typeid(object));
#else
    return nullptr;
#endif
}

// Items, results and the locals of coroutines may be aligned to so many bytes.
inline constexpr std::size_t most_frame_alignment = 64;
template <class T>
constexpr bool fits_a_frame() {
    static_assert(alignof(T) <= most_frame_alignment,
                  "weir: items and results may be aligned to 64 bytes, as the frames of coroutines are; "
                  "hold what wants more by a std::unique_ptr");
    return true;
}

// For operator new and delete of a promise: the alignment of the coroutine's frame, or more. clang knows the
// exact value in the coroutine, into which this is inlined; g++ makes the size a multiple of the alignment.
WEIR_ALWAYS_INLINE std::size_t frame_alignment([[maybe_unused]] std::size_t size) noexcept {
#if defined(__clang__)
    return __builtin_coro_align();
#elif defined(__GNUC__)
    return size & (~size + 1);
#else
    return most_frame_alignment;
#endif
}

// A sanitizer has to see each allocation.
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

// Gives the place of who makes an object with a member that begins as `call_place::current()`. The front end
// of nvcc 13 ends with an internal error at such a member in a .cu file: there no place is known.
#if defined(__CUDACC__)
struct call_place {
    static constexpr std::source_location current() noexcept { return {}; }
};
#else
using call_place = std::source_location;
#endif

}  // namespace weir::detail

#endif
