// simulate: the recording of a document: of a spec, or of a stored run.
// Stages get different names, so that a change can name each.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_RECORDED_HPP
#define WEIR_EXAMPLES_SIMULATE_RECORDED_HPP

#include "each_pipe.hpp"
#include "predicted.hpp"
#include "spec.hpp"
#include "times.hpp"

#include <weir/insight/recording.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/structure.hpp>

#include <algorithm>  // for std::max
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::optional
#include <set>        // for std::set
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string, std::to_string
#include <vector>     // for std::vector

namespace simulate {

namespace detail {

// The second stage of one name is called NAME#2, as the queues in results.
inline void name_differently(weir::recording& all) {
    std::set<std::string> used;
    for (weir::stage_settings& each : all.settings.stages) {
        std::string name = each.name;
        for (std::size_t n = 2; !used.insert(name).second; ++n) name = each.name + "#" + std::to_string(n);
        each.name = name;
    }
}

// Whether the times of a spec are to be drawn anew for an interval. A few times in turn are exact; beside a
// distribution, their list is repeated, so that those drawn have nearly the same mean.
inline bool prepare_draws(weir::recording& all) {
    std::size_t longest = 0;
    for (const weir::recorded_stage& each : all.stages) longest = std::max(longest, each.tasks.size());
    if (longest < drawn_times) return false;
    for (weir::recorded_stage& each : all.stages) {
        const std::size_t n = each.tasks.size();
        const std::size_t whole = n < 2 ? n : (drawn_times + n - 1) / n * n;
        for (std::size_t i = n; i < whole; ++i) each.tasks.push_back(each.tasks[i - n]);
    }
    return true;
}

inline bool tolerates(const limit_spec& limit, const stage_spec& s, std::optional<std::uint64_t> items) {
    const double rate = 1 / static_cast<double>(s.fails_every);
    if (limit.count) return items && static_cast<double>(*items) * rate <= static_cast<double>(*limit.count);
    return limit.rate <= 0 || limit.rate >= rate;
}

// A prediction goes on after each failure.
inline void check_failures(const pipeline_spec& spec) {
    each_pipe(spec, [&spec](const stage_spec& s, const std::string&) {
        if (s.fails_every == 0) return;
        if (s.fails_every == 1) throw std::invalid_argument("each item of stage '" + s.name + "' fails");
        if (!tolerates(s.max_failures.value_or(spec.max_failures), s, spec.items)) {
            throw std::invalid_argument("the failures of stage '" + s.name +
                                        "' stop the run ('max_failures')");
        }
    });
}

}  // namespace detail

/// Errors: `std::invalid_argument` for a spec that can't be predicted.
[[nodiscard]] inline weir::recording recording_of(const pipeline_spec& spec) {
    weir::recording all = to_recording(spec);
    detail::check_failures(spec);
    detail::name_differently(all);
    return all;
}

/// Errors: `std::invalid_argument` for a run that can't be predicted.
[[nodiscard]] inline weir::recording recording_of(const weir::run_record& run) {
    weir::recording all = weir::record_of(run.total);
    // The description, if there is one, tells the order of the results.
    const std::vector<weir::described_stage>& described = run.description.stages;
    for (std::size_t i = 0; i < described.size() && i < all.settings.stages.size(); ++i) {
        weir::stage_settings& stage = all.settings.stages[i];
        if (described[i].name == stage.name) stage.output_order = described[i].output_order;
    }
    detail::name_differently(all);
    return all;
}

}  // namespace simulate

#endif
