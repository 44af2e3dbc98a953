// weir report: what a profile of a pipeline's stages found, as values, as a table, and on the way there
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_PROFILE_RESULT_HPP
#define WEIR_REPORT_PROFILE_RESULT_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/report/table.hpp>
#include <weir/report/units.hpp>

#include <algorithm>  // for std::ranges::min_element
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::optional
#include <ostream>    // for std::ostream
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir {

/// A stage that ran alone, with so many slots.
struct profile_trial {
    std::size_t concurrency = 1;     ///< slots
    duration elapsed{};              ///< from the start to the last result
    std::uint64_t num_items = 0;     ///< items taken; of a source: given
    std::uint64_t num_results = 0;   ///< items given
    std::uint64_t num_failures = 0;  ///< items that failed
    duration ave_time{};             ///< of a successful invocation; 0 for several stages at once
    slot_times times;                ///< of all its slots, summed: `runnable` if threads were short

    /// The share of the time in which the stage had something to take. Near 1 the rate is the stage's own;
    /// a stage that is faster than it was fed has a lower one. None for a source, which takes nothing, and
    /// where no time has passed.
    std::optional<double> readiness;

    /// \returns items taken a second (of a source: given).
    [[nodiscard]] double rate() const noexcept { return detail::per_second(num_items, elapsed); }

    [[nodiscard]] friend bool operator==(const profile_trial&, const profile_trial&) = default;
};

/// All trials of a stage.
struct stage_profile {
    std::string name;                   ///< the stage's
    std::string kind;                   ///< as in `stage_stats`; `list` for several stages
    std::vector<profile_trial> trials;  ///< in the order of `profile_options::concurrencies`

    [[nodiscard]] friend bool operator==(const stage_profile&, const stage_profile&) = default;
};

/// What `profile` found: a value that can be kept, compared and printed.
struct profile_result {
    std::size_t num_items = 0;          ///< items taken from the source
    std::vector<stage_profile> stages;  ///< the source, and what follows it, without the sink

    [[nodiscard]] friend bool operator==(const profile_result&, const profile_result&) = default;
};

/// How far a profile is.
struct profile_progress {
    std::string stage;            ///< which is about to run; empty at the end
    std::size_t concurrency = 1;  ///< its slots
    std::size_t done = 0;         ///< how many trials have ended
    std::size_t total = 0;        ///< how many there are
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
///          with the fewest slots. See `profile_trial` for the rest.
[[nodiscard]] inline std::string profile_text(const profile_result& profile) {
    std::string text = "each stage alone, " + std::to_string(profile.num_items) + " items\n";
    if (profile.stages.empty()) return text;
    detail::text_table table({"stage", "slots", "items", "failed", "rate", "speed-up", "ave", "run", "await",
                              "runnable", "wait_turn", "wait_put", "readiness"});
    table.head(7, 11, "% of the slots' time");
    for (const stage_profile& stage : profile.stages) {
        const auto fewest = std::ranges::min_element(stage.trials, {}, &profile_trial::concurrency);
        std::string name = stage.name;
        for (const profile_trial& t : stage.trials) {
            const auto share = [all = t.times.total()](duration part) {
                if (all <= duration(0)) return std::string("-");
                return units::whole_percent(static_cast<double>(part.count()) /
                                            static_cast<double>(all.count()));
            };
            const double base = stage.trials.size() > 1 ? fewest->rate() : 0;
            table.add({name, std::to_string(t.concurrency), units::count(t.num_items, 8),
                       units::count(t.num_failures, 6), units::rate(t.rate()),
                       base > 0 ? units::fixed(t.rate() / base, 1) : "-",
                       t.ave_time == duration(0) ? "-" : units::time(t.ave_time), share(t.times.run),
                       share(t.times.await), share(t.times.runnable), share(t.times.wait_turn),
                       share(t.times.wait_put),
                       t.readiness ? units::whole_percent(*t.readiness) + " %" : "-"});
            name.clear();  // the lines below are about the same stage
        }
    }
    text += '\n';
    table.append_to(text);
    text +=
        "\nrate: items taken a second; below a readiness of 100 % the stage is faster than it was fed;\n"
        "runnable: no thread was free.\n";
    return text;
}

/// Writes `profile_text(profile)` at once. Neither the stream's locale nor its format flags change it.
inline std::ostream& operator<<(std::ostream& out, const profile_result& profile) {
    const std::string text = profile_text(profile);
    return out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace weir

#endif
