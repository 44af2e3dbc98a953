// weir insight, internal: bodies of the functions of insight/recording.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_SETTINGS_IPP
#define WEIR_INSIGHT_SETTINGS_IPP

#include <weir/insight/recording.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::as_const

namespace weir {

WEIR_INLINE const stage_settings& pipeline_settings::stage(std::string_view name) const {
    const stage_settings* found = nullptr;
    std::string names;
    for (const stage_settings& each : stages) {
        names += (names.empty() ? "" : ", ") + each.name;
        if (each.name != name) continue;
        if (found != nullptr) {
            throw std::invalid_argument(
                detail::concat({"weir: several stages are called '", name,
                                "'; give each a name of its own (stage_options::name)"}));
        }
        found = &each;
    }
    if (found == nullptr) {
        throw std::invalid_argument(
            detail::concat({"weir: no stage is called '", name, "'; there are: ", names}));
    }
    return *found;
}

WEIR_INLINE stage_settings& pipeline_settings::stage(std::string_view name) {
    return const_cast<stage_settings&>(std::as_const(*this).stage(name));
}

namespace detail {

WEIR_INLINE stage_role role_of(const stage_stats& stage) {
    if (stage.kind == "source") return stage_role::source;
    if (stage.kind == "sink") return stage_role::sink;
    if (stage.kind == "aggregate") return stage_role::aggregate;
    if (stage.kind == "disaggregate") return stage_role::disaggregate;
    return stage_role::function;
}

WEIR_INLINE bool gives_items(const recorded_stage& stage) noexcept {
    bool any = stage.tasks.empty();
    for (const recorded_task& each : stage.tasks) any = any || each.results != 0;
    return any;
}

WEIR_INLINE void check_settings(const pipeline_settings& settings) {
    const auto refuse = [](const stage_settings& stage, std::string_view why) {
        throw std::invalid_argument(concat({"weir: stage '", stage.name, "' can't be predicted: ", why}));
    };
    const std::size_t n = settings.stages.size();
    if (n < 3 || settings.stages[0].role != stage_role::source ||
        settings.stages[n - 2].role != stage_role::sink ||
        settings.stages[n - 1].role != stage_role::consumer) {
        throw std::invalid_argument(
            "weir: a prediction needs a source first, and a sink and the consumer last");
    }
    for (std::size_t i = 0; i < n; ++i) {
        const stage_settings& each = settings.stages[i];
        const bool is_function = each.role == stage_role::function;
        const bool is_inside =
            is_function || each.role == stage_role::aggregate || each.role == stage_role::disaggregate;
        if (is_inside != (i > 0 && i < n - 2)) refuse(each, "only its end may have that role");
        if (each.concurrency == 0) refuse(each, "its concurrency is 0, and must be at least 1");
        if (each.concurrency > most_slots) {
            refuse(each, concat({"its concurrency is above ", std::to_string(most_slots)}));
        }
        if (each.concurrency > 1 && !is_function) {
            refuse(each, "only a stage with a function can have several slots");
        }
        if (each.capacity == 0) refuse(each, "its capacity is 0, and must be at least 1");
        if (was_negative(each.capacity)) refuse(each, "its capacity is negative");
        if (each.batch_size == 0 || was_negative(each.batch_size)) {
            refuse(each, "its batch size must be at least 1");
        }
        if (!is_finite(each.time_factor) || each.time_factor < 0) {
            refuse(each, "its time factor must be a number that is not negative");
        }
        if (each.pool >= settings.pools.size()) refuse(each, "there is no pool with its index");
    }
}

}  // namespace detail

}  // namespace weir

#endif
