// weir run, internal: bodies of the functions of run/diagnosis.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_DIAGNOSIS_IPP
#define WEIR_RUN_DIAGNOSIS_IPP

#include <weir/run/diagnosis.hpp>

#include <weir/insight/limits.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>

#include <cstdio>       // for std::fprintf, std::fputs, std::snprintf
#include <cstdlib>      // for std::getenv
#include <stdexcept>    // for std::invalid_argument
#include <string_view>  // for std::string_view

namespace weir::detail {

WEIR_INLINE profile_lines::profile_lines(std::size_t longest) noexcept
    : width_(static_cast<int>(longest < 5      ? 5
                              : longest > most ? most
                                               : longest)) {}

WEIR_INLINE std::string profile_lines::head() const {
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
        width_ + 53 + rate_width + speed_up_width, "", std::string(dashes / 2, '-').c_str(), title.c_str(),
        std::string(dashes - dashes / 2, '-').c_str(), width_, "stage", rate_width, "95 %", speed_up_width,
        "95 %", names.c_str());
    return text;
}

WEIR_INLINE std::string profile_lines::line(const std::string& name, const profile_trial& t,
                                            const profile_trial* base) {
    // A trial that was stuck, or did not begin, has no rate.
    const bool has_rate = t.end < trial_end::stuck;
    seen_ends_[static_cast<std::size_t>(t.end)] = true;
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
                      units::count(t.num_failures, 6).c_str(), has_rate ? units::rate(t.rate()).c_str() : "-",
                      rate_width, or_dash(rates), or_dash(ratio), speed_up_width, or_dash(ratios),
                      t.ave_time == duration(0) ? "-" : units::time(t.ave_time).c_str(), shares.c_str(),
                      t.readiness ? share(*t.readiness, 1, " %").c_str() : "-", remark(t));
    for (int i = 0; i + 1 < size; ++i) {
        if (text[i] < ' ' || text[i] > '~') text[i] = '?';
    }
    return text;
}

WEIR_INLINE std::string profile_lines::foot() const {
    std::string text =
        "\nitems: invocations; rate: of them a second, and its 95 % confidence interval; below a "
        "readiness of 100 % the stage is faster than it was fed;\n"
        "speed-up: over the fewest slots; none is told where its interval holds 1; runnable: no thread was "
        "free.\n";
    if (is_few_) {
        text +=
            "few items: fewer than 4 for each slot, so the rate has no interval, and there is no speed-up.\n";
    }
    if (has_seen(trial_end::time_over)) {
        text += "time over: a trial has a limit of time; its figures are of the items until then.\n";
    }
    if (has_seen(trial_end::stuck)) {
        text +=
            "stuck: nothing moved any more, as where a function waits for what a later stage, or the "
            "consumer, gives back;\nthe stage was tried no further.\n";
    }
    if (has_seen(trial_end::too_few)) {
        text += "too few items: the trials with fewer slots have used up those that the stage was given.\n";
    }
    if (has_seen(trial_end::no_thread)) {
        text +=
            "no thread: each slot takes a thread, and so many would leave none of its executor's for other "
            "stages, which may free them.\n";
    }
    if (has_seen(trial_end::not_tried)) {
        text += "not tried: a trial before it was stuck, or the time for all was over.\n";
    }
    return text;
}

WEIR_INLINE bool profile_lines::has_few(const profile_trial& t) noexcept {
    return !t.pace && t.num_items != 0 && t.end == trial_end::complete;
}

WEIR_INLINE const char* profile_lines::remark(const profile_trial& t) noexcept {
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

WEIR_INLINE std::string profile_lines::share(double part, double all, const char* unit) {
    return all <= 0 ? "-" : units::whole_percent(part / all) + unit;
}

WEIR_INLINE printed_trials::printed_trials() noexcept
    : stage_trials(1000, concurrencies,
                   {.still = duration(3'000'000'000),
                    .trial = duration(10'000'000'000),
                    .all = duration(60'000'000'000),
                    .leaves_threads = true,
                    .rounds = 3}) {}

WEIR_INLINE void printed_trials::finish(profiled_run& run) {
    if (run.was_interrupted()) {
        std::fputs("weir: WEIR_DIAGNOSE=1: the run ended before all of its stages were tried\n", stderr);
    } else {
        std::fputs(lines_.foot().c_str(), stderr);
        is_complete_ = true;
    }
}

WEIR_INLINE std::string conclusion_of_states(const pipeline_stats& rest) {
    const visible_limit found = limit_by_states(rest);
    const std::string unsure = found.cause == limit_cause::unsure ? "not sure what limits the rate: " : "";
    return unsure + found.sentence + " (from the states alone, so less sure)";
}

WEIR_INLINE std::string conclusion_text(const pipeline_stats& rest) {
    constexpr std::uint64_t fewest = 20;
    // Null in a program that doesn't compile the simulation of changes: see diagnosis.hpp.
    const verdict_function verdict =
        the_verdict_of_diagnosis.load(std::memory_order_acquire);  // pairs with verdict_of_diagnosis::is_set
    std::string sentence = verdict == nullptr ? std::string() : verdict(rest);
    if (sentence.empty()) sentence = conclusion_of_states(rest);
    if (verdict == nullptr) sentence += "; in a program that prints run.stats(), changes are simulated";
    std::string text = "weir: WEIR_DIAGNOSE=1: ";
    if (rest.num_items < fewest) {
        text += "no verdict, as only " + units::count(rest.num_items) + " items came after the trials";
    } else {
        text += "the " + units::count(rest.num_items) + " items after the trials: " + sentence;
    }
    for (char& each : text) {
        if (each < ' ' || each > '~') each = '?';
    }
    return text + "\n";
}

WEIR_INLINE void printed_trials::conclude(const pipeline_stats& rest) {
    std::fputs(conclusion_text(rest).c_str(), stderr);
}

WEIR_INLINE void printed_trials::abandon(profiled_run&, std::exception_ptr) noexcept {
    std::fputs("weir: WEIR_DIAGNOSE=1: memory lacks to try the stages of a run; it goes on without\n",
               stderr);
}

WEIR_INLINE void printed_trials::on_begin(profiled_run& run) {
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

WEIR_INLINE void printed_trials::on_result(const profiled_run& run, std::size_t stage, std::size_t index,
                                           const profile_trial& trial) {
    if (index == 0) base_ = trial;
    const bool grows = num_trials(run, stage) > 1;
    const std::string name = index == 0 ? detail::without_controls(run.name_of(stage)) : std::string();
    std::fputs(lines_.line(name, trial, grows ? &base_ : nullptr).c_str(), stderr);
}

WEIR_INLINE owned<run_profiler> diagnosis(bool is_measured) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread of the library changes the environment
    const char* const found = std::getenv("WEIR_DIAGNOSE");
    if (found == nullptr) return nullptr;
    const std::string_view text = found;
    if (text.empty() || text == "0") return nullptr;
    if (text != "1") {
        throw std::invalid_argument("weir: the environment variable WEIR_DIAGNOSE is '" + std::string(text) +
                                    "'; 1 profiles the stages of each run before it goes on, and 0, like "
                                    "nothing, does not");
    }
    if (is_measured) return owned<run_profiler>(new printed_trials());
    std::fputs("weir: WEIR_DIAGNOSE=1 does nothing for a run that measures nothing (weir::unmeasured)\n",
               stderr);
    return nullptr;
}

}  // namespace weir::detail

#endif
