// weir stages, internal: a stage's options as its description keeps them, and its name if it was given none
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_KEPT_OPTIONS_HPP
#define WEIR_STAGES_KEPT_OPTIONS_HPP

#include <weir/platform/config.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>      // for std::size_t
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <type_traits>  // for std::is_class_v
#include <utility>      // for std::move

namespace weir::detail {

// What a class is called, without what it lies in and without its arguments. Empty for what has no name (a
// lambda), and for what says nothing about what it does: a pointer, and what is of std or of weir.
template <class Function>
constexpr std::string_view name_of_class() noexcept {
    std::string_view text = type_text<Function>();
    for (const std::string_view keyword : {"class ", "struct "}) {
        if (text.starts_with(keyword)) text.remove_prefix(keyword.size());
    }
    if (!std::is_class_v<Function> || text.starts_with("std::") || text.starts_with("weir::")) return {};
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

// A function without a name of its own is called after what it does, and where: "pipe#3".
class kept_options : public stage_options {
  public:
    kept_options() = default;
    explicit(false) kept_options(stage_options given) : stage_options(std::move(given)) {}

    // `kind`, which outlives it: the stage's, if it was given no name.
    kept_options(stage_options given, std::string_view kind) : stage_options(std::move(given)) {
        if (!name.empty()) return;
        kind_ = kind;
        name = name_at(place_);
    }
    // `Function`: the function, after which it is called if that has a name.
    template <class Function>
    static kept_options of_function(stage_options given, std::string_view kind) {
        constexpr std::string_view its = name_of_class<Function>();
        if (given.name.empty()) given.name = its;
        return {std::move(given), kind};
    }

    // Where it stands now, unless it has been given a name meanwhile.
    void stand_at(std::size_t place) {
        if (kind_.empty() || name != name_at(place_)) return;
        place_ = place;
        name = name_at(place_);
    }

  private:
    std::string name_at(std::size_t place) const { return std::string(kind_) + "#" + std::to_string(place); }

    std::string_view kind_;  // empty: it has a name
    std::size_t place_ = 1;  // behind a source
};

}  // namespace weir::detail

#endif
