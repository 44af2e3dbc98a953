// weir stages, internal: bodies of the functions of stages/stage.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_IPP
#define WEIR_STAGES_STAGE_IPP

#include <weir/stages/stage.hpp>

#include <weir/platform/config.hpp>

#include <cstddef>      // for std::size_t
#include <string>       // for std::string, std::to_string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move

namespace weir::detail {

WEIR_INLINE std::string_view name_of_class(std::string_view text, bool is_class) noexcept {
    for (const std::string_view keyword : {"class ", "struct "}) {
        if (text.starts_with(keyword)) text.remove_prefix(keyword.size());
    }
    if (!is_class || text.starts_with("std::") || text.starts_with("weir::")) return {};
    if (text.ends_with('>')) {
        std::size_t open = 0;
        do {
            open += text.back() == '>' ? 1U : 0U;
            open -= text.back() == '<' ? 1U : 0U;
            text.remove_suffix(1);
        } while (open != 0 && !text.empty());
    }
    const auto is_word = [](char c) {
        return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    std::size_t begin = text.size();
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    return text.substr(begin);
}

WEIR_INLINE kept_options::kept_options(const kept_options& other) = default;
WEIR_INLINE kept_options::kept_options(kept_options&& other) noexcept = default;
WEIR_INLINE kept_options& kept_options::operator=(const kept_options& other) = default;
WEIR_INLINE kept_options& kept_options::operator=(kept_options&& other) noexcept = default;
WEIR_INLINE kept_options::~kept_options() = default;

WEIR_INLINE kept_options::kept_options(stage_options&& given, std::string_view kind,
                                       std::string_view class_name)
    : stage_options(std::move(given)) {
    if (name.empty()) name = class_name;
    if (!name.empty()) return;
    kind_ = kind;
    name = default_name(place_);
}

WEIR_INLINE void kept_options::set_place(std::size_t place) {
    if (kind_.empty() || name != default_name(place_)) return;
    place_ = place;
    name = default_name(place_);
}

WEIR_INLINE std::string kept_options::default_name(std::size_t place) const {
    return std::string(kind_) + "#" + std::to_string(place);
}

}  // namespace weir::detail

#endif
