// weir report, internal: bodies of the functions of report/type_name.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TYPE_NAME_IPP
#define WEIR_REPORT_TYPE_NAME_IPP

#include <weir/report/type_name.hpp>

#include <weir/platform/config.hpp>

#include <cstddef>  // for std::size_t

namespace weir::detail {

WEIR_INLINE void drop_arguments(std::string& text, std::string_view beginning) {
    std::size_t at = 0;
    while ((at = text.find(beginning, at)) != std::string::npos) {
        std::size_t end = at + beginning.size();
        for (int open = 1; open != 0 && end < text.size(); ++end) {
            open += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
        }
        text.erase(at, end - at);
    }
}

WEIR_INLINE std::string tidy_type_name(std::string text) {
    static constexpr struct {
        std::string_view from;
        std::string_view to;
    } rules[] = {
        {"{anonymous}::", ""},
        {"(anonymous namespace)::", ""},
        {"`anonymous-namespace'::", ""},
        {"`anonymous namespace'::", ""},
        {"std::__cxx11::", "std::"},
        {"std::__1::", "std::"},
        {"class ", ""},
        {"struct ", ""},
        {"enum ", ""},
        {"long long unsigned int", "unsigned long long"},
        {"long unsigned int", "unsigned long"},
        {"short unsigned int", "unsigned short"},
        {"long long int", "long long"},
        {"long int", "long"},
        {"short int", "short"},
        {" >", ">"},
        {"std::basic_string<char>", "std::string"},
        {"std::basic_string_view<char>", "std::string_view"},
        {" *", "*"},
        {" &", "&"},
        {" [", "["},
        {" (", "("},
    };
    const auto is_word = [](char c) {
        return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    for (const char* const each :
         {"allocator", "char_traits", "default_delete", "less", "hash", "equal_to"}) {
        drop_arguments(text, ", std::" + std::string(each) + "<");
        drop_arguments(text, ",class std::" + std::string(each) + "<");
    }
    for (const auto& rule : rules) {
        std::size_t at = 0;
        while ((at = text.find(rule.from, at)) != std::string::npos) {
            const bool inside = at > 0 && is_word(text[at]) && is_word(text[at - 1]);
            if (!inside) text.replace(at, rule.from.size(), rule.to);
            at += inside ? 1 : rule.to.size();
        }
    }
    return text;
}

WEIR_INLINE std::string read_type_name(const char* mangled) { return tidy_type_name(demangled(mangled)); }

WEIR_INLINE bool are_one_type(const std::type_info* a, const std::type_info* b) noexcept {
    return a == b || (a != nullptr && b != nullptr && *a == *b);
}

}  // namespace weir::detail

#endif
