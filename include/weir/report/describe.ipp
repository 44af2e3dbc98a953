// weir report, internal: bodies of the functions of report/describe.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_DESCRIBE_IPP
#define WEIR_REPORT_DESCRIBE_IPP

#include <weir/report/describe.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>    // for std::ranges::find
#include <string_view>  // for std::string_view
#include <typeinfo>     // for std::type_info

namespace weir::detail {

WEIR_INLINE auto description_builder::ends::operator+=(ends other) -> ends& {
    for (end& each : other.ends_) ends_.push_back(std::move(each));
    return *this;
}

WEIR_INLINE pipeline_description description_builder::finish() && {
    for (std::size_t i = 0; i < executors_.size(); ++i) {
        if (executors_[i] != nullptr) result_.stages[i].executor = name_of(*executors_[i]);
    }
    return std::move(result_);
}

WEIR_INLINE auto description_builder::end_at(std::size_t place) -> ends {
    ends one;
    one.ends_.push_back({place, {}});
    return one;
}

WEIR_INLINE std::size_t description_builder::enter(std::string name) {
    const std::size_t here = result_.stages.size();
    result_.branches.push_back({std::move(name), depth_++, here, here});
    return result_.branches.size() - 1;
}

WEIR_INLINE void description_builder::leave(std::size_t branch) {
    --depth_;
    result_.branches[branch].end = result_.stages.size();
}

WEIR_INLINE std::string description_builder::name_of(const executor& ex) const {
    std::vector<const executor*> alike;
    std::size_t number = 0;
    for (const executor* const each : executors_) {
        if (each == nullptr) continue;
        const executor& other = *each;
        if (!are_one_type(type_of(other), type_of(ex)) || std::ranges::find(alike, each) != alike.end())
            continue;
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
