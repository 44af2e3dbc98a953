// weir platform, internal: the text of exceptions and of source locations in messages and reports
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_MESSAGE_TEXT_HPP
#define WEIR_PLATFORM_MESSAGE_TEXT_HPP

#include <weir/platform/config.hpp>

#include <exception>        // for std::exception_ptr, std::rethrow_exception
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <string_view>      // for std::string_view

namespace weir::detail {

// The type of the exception that is being handled, as written in a program; "?" if the compiler can't tell.
inline std::string type_of_current_exception() {
    const char* const name = detail::name_of_current_exception_type();
    std::string type = name == nullptr ? "?" : demangled(name);
    return type.starts_with("std::__cxx11::basic_string<char,") ? "std::string" : type;
}

// The text of an exception followed by the type of the one that is being handled.
inline std::string text_with_type(std::string_view text) {
    const std::string type = detail::type_of_current_exception();
    if (text.empty()) return "an exception of type " + type + ", without a text";
    return std::string(text) + " (thrown as " + type + ")";
}

// For a `std::exception` with a text: `what()`. For a thrown string or number: its text and type. Otherwise
// the type. Errors: `std::bad_alloc`.
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

// The type of an exception, to distinguish exceptions with the same text.
inline std::string error_type(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (...) {
        return detail::type_of_current_exception();
    }
}

// The folder of weir's own headers. A location there means nothing to a user: it comes from options that weir
// itself constructs.
inline std::string_view folder_of_weir() noexcept {
    const std::string_view here = std::source_location::current().file_name();
    return here.substr(0, here.size() - std::string_view("platform/message_text.hpp").size());
}

// "loader.cpp:42", without the folder, which differs between machines; empty if unknown.
inline std::string place_text(const std::source_location& where) {
    std::string_view file = where.file_name();
    if (where.line() == 0 || file.starts_with(folder_of_weir())) return {};
    file.remove_prefix(file.find_last_of("/\\") + 1);  // npos + 1 is 0
    return std::string(file) + ":" + std::to_string(where.line());
}

// The same to follow a name: " (loader.cpp:42)".
inline std::string place_behind(const std::source_location& where) {
    const std::string place = place_text(where);
    return place.empty() ? place : " (" + place + ")";
}

}  // namespace weir::detail

#endif
