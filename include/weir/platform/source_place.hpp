// weir platform, internal: a line of a program's text, as reports name it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SOURCE_PLACE_HPP
#define WEIR_PLATFORM_SOURCE_PLACE_HPP

#include <weir/platform/config.hpp>

#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <string_view>      // for std::string_view

namespace weir::detail {

// Where weir's own headers are. What was written there tells nobody anything: options that are made without
// braces, or by an overload that takes none.
inline std::string_view folder_of_weir() noexcept {
    const std::string_view here = std::source_location::current().file_name();
    return here.substr(0, here.size() - std::string_view("platform/source_place.hpp").size());
}

// "loader.cpp:42", without the folder, which differs from one machine to the next; empty if it isn't known.
inline std::string place_text(const std::source_location& where) {
    std::string_view file = where.file_name();
    if (where.line() == 0 || file.starts_with(folder_of_weir())) return {};
    file.remove_prefix(file.find_last_of("/\\") + 1);  // npos + 1 is 0
    return std::string(file) + ":" + std::to_string(where.line());
}

// The same behind a name: " (loader.cpp:42)".
inline std::string place_behind(const std::source_location& where) {
    const std::string place = place_text(where);
    return place.empty() ? place : " (" + place + ")";
}

}  // namespace weir::detail

#endif
