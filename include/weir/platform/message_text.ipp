// weir platform, internal: bodies of the functions of platform/message_text.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_MESSAGE_TEXT_IPP
#define WEIR_PLATFORM_MESSAGE_TEXT_IPP

#include <weir/platform/message_text.hpp>

#include <weir/platform/config.hpp>

#include <exception>  // for std::rethrow_exception

namespace weir::detail {

WEIR_INLINE std::string type_of_current_exception() {
    const char* const name = detail::name_of_current_exception_type();
    std::string type = name == nullptr ? "?" : demangled(name);
    return type.starts_with("std::__cxx11::basic_string<char,") ? "std::string" : type;
}

WEIR_INLINE std::string text_with_type(std::string_view text) {
    const std::string type = detail::type_of_current_exception();
    if (text.empty()) return "an exception of type " + type + ", without a text";
    return std::string(text) + " (thrown as " + type + ")";
}

WEIR_INLINE std::string error_text(const std::exception_ptr& error) {
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

WEIR_INLINE std::string error_type(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (...) {
        return detail::type_of_current_exception();
    }
}

WEIR_INLINE std::string without_controls(std::string_view text) {
    std::string shown;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool ends_control = byte >= 0x80 && byte < 0xA0 && !shown.empty() && shown.back() == '\xC2';
        if (ends_control) shown.pop_back();
        const bool keeps = !is_control(c) || c == '\n' || c == '\t';
        shown += keeps && !ends_control ? c : '?';
    }
    return shown;
}

WEIR_INLINE std::string_view folder_of_weir() noexcept {
    constexpr std::string_view own = "platform/message_text.ipp";
    const std::string_view here = std::source_location::current().file_name();
    // In a single header, all of weir is in the file with this function.
    return here.ends_with(own) ? here.substr(0, here.size() - own.size()) : here;
}

WEIR_INLINE std::string place_text(const std::source_location& where) {
    std::string_view file = where.file_name();
    if (where.line() == 0 || file.starts_with(folder_of_weir())) return {};
    file.remove_prefix(file.find_last_of("/\\") + 1);  // npos + 1 is 0
    return std::string(file) + ":" + std::to_string(where.line());
}

WEIR_INLINE std::string place_behind(const std::source_location& where) {
    const std::string place = place_text(where);
    return place.empty() ? place : " (" + place + ")";
}

// NOLINTNEXTLINE(bugprone-throw-keyword-missing): no exception is to be thrown, a member is initialised
WEIR_INLINE memory_shortage::memory_shortage(const std::string& lack) : text_("weir: " + lack) {}

WEIR_INLINE void memory_shortage::throw_with_prefix(const std::string& whose) const {
    throw memory_shortage(whose + (what() + 6));
}

WEIR_INLINE memory_shortage::memory_shortage(const std::string& whose, std::size_t wanted,
                                             const std::string& things, std::size_t possible)
    : memory_shortage(whose + "no memory for " + std::to_string(wanted) + " " + things + "; for " +
                      std::to_string(possible) + " there is") {}

}  // namespace weir::detail

#endif
