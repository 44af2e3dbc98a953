// weir stages, internal: bodies of the functions of stages/stage.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_IPP
#define WEIR_STAGES_STAGE_IPP

#include <weir/stages/stage.hpp>

#include <weir/platform/config.hpp>

namespace weir::detail {

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
