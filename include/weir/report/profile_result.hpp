// weir report: what a profile of a pipeline's stages found, as values, as a table, and on the way there
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_PROFILE_RESULT_HPP
#define WEIR_REPORT_PROFILE_RESULT_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/run/profile_trial.hpp>

#include <algorithm>   // for std::max, std::ranges::min_element
#include <cstddef>     // for std::size_t
#include <functional>  // for std::function
#include <ostream>     // for std::ostream
#include <string>      // for std::string
#include <vector>      // for std::vector

namespace weir {

/// All trials of a stage.
struct stage_profile {
    std::string name;                   ///< the stage's
    std::string kind;                   ///< as in `stage_stats`
    std::vector<profile_trial> trials;  ///< in the order of `profile_options::concurrencies`

    [[nodiscard]] friend bool operator==(const stage_profile&, const stage_profile&) = default;
};

/// What `profile` found: a value that can be kept, compared and printed.
struct profile_result {
    std::size_t num_items = 0;          ///< items that the trials of the sources took
    std::vector<stage_profile> stages;  ///< as in `pipeline_stats::stages`, without the sink

    [[nodiscard]] friend bool operator==(const profile_result&, const profile_result&) = default;
};

/// How far a profile is.
struct profile_progress {
    std::string stage;            ///< which is about to run; empty at the end
    std::size_t concurrency = 1;  ///< its slots
    std::size_t done = 0;         ///< how many trials have ended
    std::size_t total = 0;        ///< how many there are
};

/// Of `profile`.
struct profile_options {
    /// With how many slots a stage runs that may have several.
    std::vector<std::size_t> concurrencies = {32, 16, 8, 4, 1};

    /// How long a trial lasts at most: see `trial_end::time_over`.
    duration time_limit{10'000'000'000};

    /// Told before each trial, and at the end: `weir::profile_bar(std::cerr)`. Threads: the run's executor's,
    /// one call at a time.
    std::function<void(const profile_progress&)> on_progress = nullptr;
};

/// Shows how far a profile is: `profile(p, pool, 1000, {.on_progress = weir::profile_bar(std::cerr)})`.
///
/// Errors:   those of the stream, if it is to throw.
/// Lifetime: the stream outlives it.
class profile_bar {
  public:
    /// \param in_place  one line that is written over again and again, for a terminal; if not, a line for
    ///                  each trial.
    explicit profile_bar(std::ostream& out, bool in_place = true) : out_(&out), in_place_(in_place) {}

    /// For `profile_options::on_progress`.
    void operator()(const profile_progress& p) {
        const std::string total = std::to_string(p.total);
        std::string line = units::right(std::to_string(p.done), total.size()) + "/" + total;
        if (!p.stage.empty()) {
            line += "  " + p.stage + ", " + std::to_string(p.concurrency) +
                    (p.concurrency == 1 ? " slot" : " slots");
        }
        if (in_place_) {
            const std::size_t full = p.total == 0 ? length : length * p.done / p.total;
            const std::string bar = std::string(full, '#') + std::string(length - full, '.');
            const std::size_t before = width_;
            width_ = line.size();
            line = "\r[" + bar + "]  " + units::left(line, before) + (p.stage.empty() ? "\n" : "");
        } else {
            line += '\n';
        }
        out_->write(line.data(), static_cast<std::streamsize>(line.size()));
        out_->flush();
    }

  private:
    static constexpr std::size_t length = 30;
    std::ostream* out_;
    bool in_place_;
    std::size_t width_ = 0;  // of what stands behind the bar
};

/// \returns the profile as a table, a trial a line. `speed-up`: of the rate, over the trial of that stage
///          with the fewest slots, where its interval doesn't hold 1. See `profile_trial` for the rest.
[[nodiscard]] inline std::string profile_text(const profile_result& profile) {
    std::string text = "each stage alone, " + std::to_string(profile.num_items) + " items\n";
    if (profile.stages.empty()) return text;
    std::size_t longest = 0;
    for (const stage_profile& stage : profile.stages) longest = (std::max)(longest, stage.name.size());
    detail::profile_lines table(longest);
    text += '\n' + table.head();
    for (const stage_profile& stage : profile.stages) {
        const auto fewest = std::ranges::min_element(stage.trials, {}, &profile_trial::concurrency);
        std::string name = stage.name;
        for (const profile_trial& t : stage.trials) {
            text += table.line(name, t, stage.trials.size() > 1 ? &*fewest : nullptr);
            name.clear();  // the lines below are about the same stage
        }
    }
    return text + table.foot();
}

/// Writes `profile_text(profile)` at once. Neither the stream's locale nor its format flags change it.
inline std::ostream& operator<<(std::ostream& out, const profile_result& profile) {
    const std::string text = profile_text(profile);
    return out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace weir

#endif
