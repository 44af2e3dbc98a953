// weir insight, internal: bodies of the functions of insight/headspace.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_HEADSPACE_IPP
#define WEIR_INSIGHT_HEADSPACE_IPP

#include <weir/insight/headspace.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <stdexcept>  // for std::invalid_argument

namespace weir::detail {

WEIR_INLINE void check_headspace(const headspace_options& options) {
    refuse_if(options.items < 2 || was_negative(options.items),
              "weir: headspace measures at least 2 items (headspace_options::items)");
    refuse_if(options.time <= duration(0),
              "weir: headspace needs some time for a measurement (headspace_options::time)");
    refuse_if(options.kept == 0 || was_negative(options.kept),
              "weir: headspace keeps at least 1 item in memory (headspace_options::kept)");
    refuse_if(was_negative(options.skipped),
              "weir: headspace can't skip a negative number of items (headspace_options::skipped)");
}

WEIR_INLINE duration rate_meter::left_at(time_point t) const noexcept {
    if (count_ >= limits_.items) return duration(0);
    return larger(limits_.time - (t - begin_), duration(0));
}

WEIR_INLINE double rate_meter::rate(const char* whose) const {
    const std::uint64_t n = count_;
    if (n < 2) {
        throw std::invalid_argument("weir: headspace needs at least 2 items of each measurement, and got " +
                                    std::to_string(n) + " within the limits: of " + whose);
    }
    const std::size_t first = number_as<std::size_t>(smaller<std::uint64_t>(limits_.skipped, (n - 1) / 2));
    const duration passed = larger(last_ - first_[first], duration(1));
    return per_second(n - 1 - first, passed);
}

WEIR_INLINE headspace_result headspace_of(double measured, double consumer, double pipeline,
                                          std::size_t num_kept) {
    constexpr double worthwhile = 0.05;
    const auto more = [measured](double rate) {
        return units::rate(rate) + ", " + units::whole_percent(rate / measured - 1) + " % more";
    };
    headspace_result all{measured, consumer, pipeline, consumer / measured - 1, {}, num_kept};
    const std::string together = units::rate(measured);
    if (all.gain < worthwhile) {
        all.sentence = "the pipeline keeps up: the consumer takes " + together +
                       ", and alone, with items from memory, " + units::rate(consumer) +
                       "; the pipeline alone gives " + units::rate(pipeline);
    } else if (pipeline / measured - 1 < worthwhile) {
        all.sentence = "the pipeline limits the program to " + together +
                       ": the consumer alone, with items from memory, would take " + more(consumer) +
                       "; the pipeline alone gives " + units::rate(pipeline);
    } else {
        all.sentence = "pipeline and consumer slow each other down to " + together +
                       ": the consumer alone, with items from memory, would take " + more(consumer) +
                       "; the pipeline alone gives " + more(pipeline) +
                       "; they share processors, or the last queue has too little room";
    }
    return all;
}

}  // namespace weir::detail

#endif
