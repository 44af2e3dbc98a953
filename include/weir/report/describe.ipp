// weir report, internal: bodies of the functions of report/describe.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_DESCRIBE_IPP
#define WEIR_REPORT_DESCRIBE_IPP

#include <weir/report/describe.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::ranges::find

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

WEIR_INLINE pipeline_description description_builder::finish() && {
    for (std::size_t i = 0; i < executors_.size(); ++i) {
        if (executors_[i] != nullptr) result_.stages[i].executor = name_of(*executors_[i]);
    }
    return std::move(result_);
}

WEIR_INLINE std::string description_builder::name_of(const executor& ex) const {
    std::vector<const executor*> alike;
    std::size_t number = 0;
    for (const executor* const each : executors_) {
        if (each == nullptr || std::ranges::find(alike, each) != alike.end()) continue;
        if (!are_one_type(type_of(*each), type_of(ex))) continue;
        alike.push_back(each);
        if (each == &ex) number = alike.size();
    }
    const std::type_info* const type = type_of(ex);
    std::string name = type == nullptr ? "weir::executor" : short_name(read_type_name(type->name()));
    return alike.size() > 1 ? name + " " + std::to_string(number) : name;
}

WEIR_INLINE std::string description_builder::short_name(std::string name) {
    const std::string_view from = "weir::basic_";
    const std::string_view what = "<weir::detail::standard_platform>";
    if (name.starts_with(from) && name.ends_with(what)) {
        name = "weir::" + name.substr(from.size(), name.size() - from.size() - what.size());
    }
    return name;
}

}  // namespace weir::detail

#endif
