// weir run, internal: WEIR_DIAGNOSE=1 in the environment profiles each run of a program, and prints a table
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_DIAGNOSIS_HPP
#define WEIR_RUN_DIAGNOSIS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/slot_state.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/profile_trial.hpp>
#include <weir/run/run_interfaces.hpp>
#include <weir/run/stage_trials.hpp>

#include <cstddef>      // for std::size_t
#include <cstdio>       // for std::fprintf, std::fputs, std::snprintf
#include <cstdlib>      // for std::getenv
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::make_unique, std::unique_ptr
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <string_view>  // for std::string_view

// `WEIR_DIAGNOSE=1 program` prints a table on stderr for each run of an unchanged program: the rate of each
// stage alone, measured as by `profile`. No item is lost:
// - The first 1000 items of each source go through the stages, one stage at a time; up to 4000 if a later
//   stage gets too few batches of them. The consumer gets its first item after the last stage was tried. Each
//   stage works once on each item, in the usual order. Then the run continues as described. Its statistics
//   include the profile.
// - A stage that can have several slots is called by up to 32 threads at once, whatever its concurrency,
//   except a `for_each` of one slot.
// - Nothing blocks: `start` returns at once, and the run's executor does the work.
// - A trial has 10 s, or 3 s without a change; all trials have 60 s. Then the run continues. The table names
//   stages that were not tried, for example because a source waits for the consumer.
// - Functions that never suspend leave one thread of their executor free, of three or more, as only a later
//   stage may unblock them. Their concurrency of the description is always possible. A coroutine that blocks
//   its thread after a tenth of the items needs threads for 32 of them.
// - A run that is stopped or fails before the end of the profile prints this. Runs at the same time disturb
//   each other's figures.
// With `WEIR_DIAGNOSE=0`, or empty, there is no profile; with any other value `start` throws
// `std::invalid_argument`.

namespace weir::detail {

// The table of a profile, made line by line, so that it can be printed during the profile. No `text_table`,
// as that would make weir.hpp heavier.
class profile_lines {
  public:
    // `longest`: the length of the longest name of a stage.
    explicit profile_lines(std::size_t longest) noexcept
        : width_(static_cast<int>(longest < 5      ? 5
                                  : longest > most ? most
                                                   : longest)) {}

    // Without a column for `off`: no slot of a trial is off.
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

    // `base`: the trial with which `t` is compared, maybe itself; null: there is no speed-up.
    std::string line(const std::string& name, const profile_trial& t, const profile_trial* base) {
        // A stage that was stuck, or not tried, has no rate.
        const bool has_rate = t.end < trial_end::stuck;
        ends_[static_cast<std::size_t>(t.end)] = true;
        is_few_ = is_few_ || has_few(t);
        std::string rates;
        std::string ratio;
        std::string ratios;
        if (const auto i = has_rate && t.pace ? t.pace->rate_interval() : std::nullopt) {
            rates = units::rate(i->low) + "-" + units::rate(i->high);
        }
        if (const auto i = has_rate && base != nullptr ? t.speed_up(*base) : std::nullopt) {
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
                          has_rate ? units::rate(t.rate()).c_str() : "-", of_rate, or_dash(rates),
                          or_dash(ratio), of_speed_up, or_dash(ratios),
                          t.ave_time == duration(0) ? "-" : units::time(t.ave_time).c_str(), shares.c_str(),
                          t.readiness ? share(*t.readiness, 1, " %").c_str() : "-", remark(t));
        for (int i = 0; i + 1 < size; ++i) {
            if (text[i] < ' ' || text[i] > '~') text[i] = '?';
        }
        return text;
    }

    // Explains the columns, and the remarks that occurred.
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
        if (has_end(trial_end::time_over)) {
            text += "time over: a trial has a limit of time; its figures are of the items until then.\n";
        }
        if (has_end(trial_end::stuck)) {
            text +=
                "stuck: nothing moved any more, as where a function waits for what a later stage, or the "
                "consumer, gives back;\nthe stage was tried no further.\n";
        }
        if (has_end(trial_end::too_few)) {
            text +=
                "too few items: the trials with fewer slots have used up those that the stage was given.\n";
        }
        if (has_end(trial_end::no_thread)) {
            text +=
                "no thread: each slot takes a thread, and so many would leave none of its executor's for "
                "other "
                "stages, which may free them.\n";
        }
        if (has_end(trial_end::not_tried)) {
            text += "not tried: a trial before it was stuck, or the time for all was over.\n";
        }
        return text;
    }

  private:
    static constexpr std::size_t most = 20;
    static constexpr int of_rate = 19;
    static constexpr int of_speed_up = 12;

    bool has_end(trial_end what) const noexcept { return ends_[static_cast<std::size_t>(what)]; }
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
    bool ends_[6] = {};  // by trial_end
};

class printed_trials final : public stage_trials {
  public:
    printed_trials() noexcept
        : stage_trials(1000, concurrencies,
                       {.still = duration(3'000'000'000),
                        .trial = duration(10'000'000'000),
                        .all = duration(60'000'000'000),
                        .leaves_threads = true,
                        .rounds = 3}) {}

    void finish(profiled_run& run) override {
        if (run.was_interrupted()) {
            std::fputs("weir: WEIR_DIAGNOSE=1: the run ended before all of its stages were tried\n", stderr);
        } else {
            std::fputs(lines_.foot().c_str(), stderr);
        }
    }
    void abandon(profiled_run&, std::exception_ptr) noexcept override {
        std::fputs("weir: WEIR_DIAGNOSE=1: memory lacks to try the stages of a run; it goes on without\n",
                   stderr);
    }

  private:
    static constexpr std::size_t concurrencies[] = {1, 4, 8, 16, 32};

    void on_begin(profiled_run& run) override {
        std::size_t widest = 0;
        for (std::size_t i = 0; i < run.num_stages(); ++i) {
            widest = detail::larger(widest, run.name_of(i).size());
        }
        lines_ = profile_lines(widest);
        std::fprintf(stderr,
                     "weir: WEIR_DIAGNOSE=1: each stage alone first, with up to 32 slots, on the first 1000 "
                     "items, for "
                     "60 s at most; then the run goes on\n\n%s",
                     lines_.head().c_str());
    }
    void on_trial(const profiled_run&, std::size_t, std::size_t) override {}
    void on_result(const profiled_run& run, std::size_t stage, std::size_t place,
                   const profile_trial& trial) override {
        if (place == 0) base_ = trial;
        const bool grows = num_trials(run, stage) > 1;
        const std::string name = place == 0 ? run.name_of(stage) : std::string();
        std::fputs(lines_.line(name, trial, grows ? &base_ : nullptr).c_str(), stderr);
    }

    profile_lines lines_{0};
    profile_trial base_;  // the trial of the stage with the fewest slots
};

// Called for each run that starts. Returns the profiler that the environment asks for, or null.
inline std::unique_ptr<run_profiler> diagnosis(bool is_measured) {
    const char* const found = std::getenv("WEIR_DIAGNOSE");  // NOLINT(concurrency-mt-unsafe): none sets one
    if (found == nullptr) return nullptr;
    const std::string_view text = found;
    if (text.empty() || text == "0") return nullptr;
    if (text != "1") {
        throw std::invalid_argument("weir: the environment variable WEIR_DIAGNOSE is '" + std::string(text) +
                                    "'; 1 profiles the stages of each run before it goes on, and 0, like "
                                    "nothing, does not");
    }
    if (is_measured) return std::make_unique<printed_trials>();
    std::fputs("weir: WEIR_DIAGNOSE=1 does nothing for a run that measures nothing (weir::unmeasured)\n",
               stderr);
    return nullptr;
}

}  // namespace weir::detail

#endif
