// weir platform, internal: the text and the type of an exception, whatever was thrown
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_ERROR_TEXT_HPP
#define WEIR_PLATFORM_ERROR_TEXT_HPP

#include <weir/platform/config.hpp>

#include <exception>    // for std::exception_ptr, std::rethrow_exception
#include <string>       // for std::string
#include <string_view>  // for std::string_view

namespace weir::detail {

// The type of the exception that is being handled, as a program writes it. "?": the compiler doesn't tell.
inline std::string type_of_current_exception() {
    const char* const name = detail::name_of_current_exception_type();
    std::string type = name == nullptr ? "?" : demangled(name);
    return type.starts_with("std::__cxx11::basic_string<char,") ? "std::string" : type;
}

// With the type of the exception that is being handled.
inline std::string text_with_type(std::string_view text) {
    const std::string type = detail::type_of_current_exception();
    if (text.empty()) return "an exception of type " + type + ", without a text";
    return std::string(text) + " (thrown as " + type + ")";
}

// `what()` of a `std::exception`, if that has a text; of a string or a number that was thrown the text, with
// the type; of all else the type. Errors: `std::bad_alloc`.
inline std::string error_text(const std::exception_ptr& error) {
    if (!error) return "no exception";
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
        const char* const what = e.what();
        return what == nullptr || *what == '\0' ? detail::text_with_type({}) : what;
    } catch (const std::string& text) {
        return detail::text_with_type(text);
    } catch (const std::string_view& text) {
        return detail::text_with_type(text);
    } catch (const char* text) {
        return detail::text_with_type(text == nullptr ? "" : text);
    } catch (int n) {
        return detail::text_with_type(std::to_string(n));
    } catch (unsigned n) {
        return detail::text_with_type(std::to_string(n));
    } catch (long n) {
        return detail::text_with_type(std::to_string(n));
    } catch (unsigned long n) {
        return detail::text_with_type(std::to_string(n));
    } catch (long long n) {
        return detail::text_with_type(std::to_string(n));
    } catch (unsigned long long n) {
        return detail::text_with_type(std::to_string(n));
    } catch (double n) {
        return detail::text_with_type(std::to_string(n));
    } catch (...) {
        return detail::text_with_type({});
    }
}

// Its type, so that exceptions of the same text are told apart.
inline std::string error_type(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (...) {
        return detail::type_of_current_exception();
    }
}

}  // namespace weir::detail

#endif
