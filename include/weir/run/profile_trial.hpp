// weir run: what a stage did alone, with some number of slots, and the line of a table that shows it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PROFILE_TRIAL_HPP
#define WEIR_RUN_PROFILE_TRIAL_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <cstdio>       // for std::snprintf
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view

namespace weir {

/// How a trial came to its end.
enum class trial_end : std::uint8_t {
    complete,   ///< by itself: all of its items were worked on, or there were none
    time_over,  ///< its time was over; its figures are of the items until then
    stuck,    ///< nothing moved any more: a function may wait for what a later stage, or the consumer, gives
    too_few,  ///< not begun: the stage was given too few items, which those with fewer slots have used up
    no_thread,  ///< not begun: its function takes a thread, and would leave none of its executor's
    not_tried,  ///< not begun: one before it was stuck, or the time for all was over
};

/// A stage that ran alone, with so many slots.
struct profile_trial {
    std::size_t concurrency = 1;     ///< slots
    duration elapsed{};              ///< from the start to the last result
    std::uint64_t num_items = 0;     ///< items taken; of a source: given
    std::uint64_t num_results = 0;   ///< items given
    std::uint64_t num_failures = 0;  ///< items that failed
    duration ave_time{};             ///< of a successful invocation
    slot_times times;                ///< of all its slots, summed: `runnable` if threads were short

    /// The share of the time in which the stage had something to take. Near 1 the rate is the stage's own;
    /// a stage that is faster than it was fed has a lower one. None for a source, which takes nothing, for a
    /// stage that takes from several queues, and where no time has passed.
    std::optional<double> readiness;

    trial_end end = trial_end::complete;  ///< why it has no more items

    /// How fast it took items while each slot had one, so that neither its start nor its end counts. None: it
    /// had fewer than four items for each slot, and its rate is left to chance.
    std::optional<item_pace> pace = std::nullopt;

    /// \returns items taken a second (of a source: given): that of `pace`, or of all the time.
    [[nodiscard]] double rate() const noexcept {
        return pace ? pace->rate() : detail::per_second(num_items, elapsed);
    }
    /// \returns how many times as fast this was as `base`, which may be of another stage: the interval. None
    ///          where one of them has no pace, or took no time. What holds 1 shows no difference.
    [[nodiscard]] std::optional<confidence_interval> speed_up(const profile_trial& base) const noexcept {
        if (!pace || !base.pace) return std::nullopt;
        return detail::speed_up(*pace, *base.pace);
    }

    [[nodiscard]] friend bool operator==(const profile_trial&, const profile_trial&) = default;
};

namespace detail {

// The table of a profile, line by line, so that it can be printed while it is made. Compiled wherever
// weir.hpp is included, so it does without the strings that `text_table` is made of.
class profile_lines {
  public:
    // `longest`: of all names.
    explicit profile_lines(std::size_t longest) noexcept
        : width_(static_cast<int>(longest < 5      ? 5
                                  : longest > most ? most
                                                   : longest)) {}

    // A stage that runs alone has as many slots as it is tried with: none is off.
    std::string head() const {
        std::string names;
        for (const auto& state : states_in_reports) {
            if (state.state != slot_state::off) (names += "  ") += state.name;
        }
        const std::string title = " % of the slots' time ";
        const std::size_t dashes = names.size() - 2 - title.size();
        char text[400];
        std::snprintf(
            text, sizeof text,
            "%*s%s%s%s\n%-*s  slots     items  failed      rate%*s  speed-up%*s       ave%s  readiness\n",
            width_ + 53 + of_rate + of_speed_up, "", std::string(dashes / 2, '-').c_str(), title.c_str(),
            std::string(dashes - dashes / 2, '-').c_str(), width_, "stage", of_rate, "95 %", of_speed_up,
            "95 %", names.c_str());
        return text;
    }

    // `base`: what the speed-up is over, which may be this one; null: there is none.
    std::string line(const std::string& name, const profile_trial& t, const profile_trial* base) {
        // What waits for others has no rate of its own.
        const bool tells = t.end < trial_end::stuck;
        told_[static_cast<std::size_t>(t.end)] = true;
        is_few_ = is_few_ || has_few(t);
        std::string rates;
        std::string ratio;
        std::string ratios;
        if (const auto i = tells && t.pace ? t.pace->rate_interval() : std::nullopt) {
            rates = units::rate(i->low) + "-" + units::rate(i->high);
        }
        if (const auto i = tells && base != nullptr ? t.speed_up(*base) : std::nullopt) {
            const bool is_base = t == *base;
            if (is_base || !i->holds(1)) ratio = times(t.rate() / base->rate());
            if (!is_base) ratios = times(i->low) + "-" + times(i->high);
        }
        std::string shares;
        for (const auto& state : states_in_reports) {
            if (state.state == slot_state::off) continue;
            const auto part = static_cast<double>((t.times.*state.time).count());
            const std::size_t column = std::string_view(state.name).size() + 2;
            shares += units::right(share(part, static_cast<double>(t.times.total().count())), column);
        }
        char text[400];
        const int size =
            std::snprintf(text, sizeof text, "%-*.*s  %5zu  %8s  %6s  %8s%*s  %8s%*s  %8s%s  %9s%s\n", width_,
                          width_, name.c_str(), t.concurrency, units::count(t.num_items, 8).c_str(),
                          units::count(t.num_failures, 6).c_str(),
                          tells ? units::rate(t.rate()).c_str() : "-", of_rate, or_dash(rates),
                          or_dash(ratio), of_speed_up, or_dash(ratios),
                          t.ave_time == duration(0) ? "-" : units::time(t.ave_time).c_str(), shares.c_str(),
                          t.readiness ? share(*t.readiness, 1, " %").c_str() : "-", remark(t));
        for (int i = 0; i + 1 < size; ++i) {
            if (text[i] < ' ' || text[i] > '~') text[i] = '?';
        }
        return text;
    }

    // What the lines above need to be understood.
    std::string foot() const {
        std::string text =
            "\nitems: invocations; rate: of them a second, and its 95 % confidence interval; below a "
            "readiness "
            "of 100 % the stage is faster than it was fed;\nspeed-up: over the fewest slots; none is told "
            "where "
            "its interval holds 1; runnable: no thread was free.\n";
        if (is_few_) {
            text +=
                "few items: fewer than 4 for each slot, so the rate has no interval, and there is no "
                "speed-up.\n";
        }
        if (has_told(trial_end::time_over)) {
            text += "time over: a trial has a limit of time; its figures are of the items until then.\n";
        }
        if (has_told(trial_end::stuck)) {
            text +=
                "stuck: nothing moved any more, as where a function waits for what a later stage, or the "
                "consumer, gives back;\nthe stage was tried no further.\n";
        }
        if (has_told(trial_end::too_few)) {
            text +=
                "too few items: the trials with fewer slots have used up those that the stage was given.\n";
        }
        if (has_told(trial_end::no_thread)) {
            text +=
                "no thread: each slot takes a thread, and so many would leave none of its executor's for "
                "other "
                "stages, which may free them.\n";
        }
        if (has_told(trial_end::not_tried)) {
            text += "not tried: a trial before it was stuck, or the time for all was over.\n";
        }
        return text;
    }

  private:
    static constexpr std::size_t most = 20;
    static constexpr int of_rate = 19;
    static constexpr int of_speed_up = 12;

    bool has_told(trial_end what) const noexcept { return told_[static_cast<std::size_t>(what)]; }
    static bool has_few(const profile_trial& t) noexcept {
        return !t.pace && t.num_items != 0 && t.end == trial_end::complete;
    }
    static std::string times(double factor) { return units::fixed(factor, factor < 0.995 ? 2 : 1); }
    static const char* or_dash(const std::string& text) noexcept { return text.empty() ? "-" : text.c_str(); }
    static const char* remark(const profile_trial& t) noexcept {
        switch (t.end) {
            case trial_end::complete:
                return t.num_items == 0 ? "  no item" : has_few(t) ? "  few items" : "";
            case trial_end::time_over:
                return "  time over";
            case trial_end::stuck:
                return "  stuck";
            case trial_end::too_few:
                return "  too few items";
            case trial_end::no_thread:
                return "  no thread";
            case trial_end::not_tried:
                break;
        }
        return "  not tried";
    }
    static std::string share(double part, double all, const char* unit = "") {
        return all <= 0 ? "-" : units::whole_percent(part / all) + unit;
    }

    int width_;
    bool is_few_ = false;
    bool told_[6] = {};  // by trial_end
};

}  // namespace detail

}  // namespace weir

#endif
