// weir report, internal: bodies of the functions of report/explain_all_runs.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_EXPLAIN_ALL_RUNS_IPP
#define WEIR_REPORT_EXPLAIN_ALL_RUNS_IPP

#include <weir/report/explain_all_runs.hpp>

#include <weir/insight/recording.hpp>
#include <weir/insight/verdict.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/system_info.hpp>
#include <weir/report/escape.hpp>

#include <algorithm>     // for std::ranges::count
#include <array>         // for std::to_array
#include <cerrno>        // for errno
#include <mutex>         // for std::lock_guard
#include <new>           // for placement new
#include <stdexcept>     // for std::invalid_argument
#include <system_error>  // for std::system_error
#include <utility>       // for std::exchange, std::move

namespace weir {

WEIR_INLINE std::string explain_all_runs() { return detail::present_runs().states(true); }

WEIR_INLINE void explain_on_signal(int number, std::ostream& to) {
    detail::signal_explanations::add(number, to);
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE std::string slots_text(const std::vector<std::size_t>& slot_numbers) {
    std::string text = slot_numbers.size() == 1 ? "slot " : "slots ";
    for (std::size_t i = 0; i < slot_numbers.size();) {
        std::size_t end = i + 1;
        while (end < slot_numbers.size() && slot_numbers[end] == slot_numbers[end - 1] + 1) ++end;
        text += (i == 0 ? "" : ", ") + std::to_string(slot_numbers[i]);
        if (end - i > 1) text += (end - i > 2 ? "-" : ", ") + std::to_string(slot_numbers[end - 1]);
        i = end;
    }
    return text;
}

WEIR_INLINE void activity_lines::add(std::size_t slot, slot_activity of_slot) {
    for (line& each : lines_) {
        slot_activity& same = each.activity;
        if (same.what != of_slot.what || same.where != of_slot.where) continue;
        each.slot_numbers.push_back(slot);
        if (!same.lasted || !of_slot.lasted) return;
        each.longest = larger(each.longest, *of_slot.lasted);
        same.lasted = smaller(*same.lasted, *of_slot.lasted);
        return;
    }
    const duration lasted = of_slot.lasted.value_or(duration(0));
    lines_.push_back({std::move(of_slot), lasted, {slot}});
}

WEIR_INLINE std::string activity_lines::text() const {
    std::string text;
    for (const line& each : lines_) {
        text += "    " + slots_text(each.slot_numbers) + ": " + each.activity.what;
        if (each.activity.lasted) {
            const std::string least = units::time(*each.activity.lasted);
            const std::string most = units::time(each.longest);
            text += " for " + (least == most ? most : least + " to " + most);
        }
        text += each.activity.where + "\n";
    }
    return text;
}

WEIR_INLINE present_runs::present_runs() {
    const registry::reader all(*the_registry);
    // The state of a slot is read after its wait. If the state doesn't fit the wait, the wait has ended in
    // between, and is not shown.
    all.each<wait_site>([this](const wait_site& each) { read(each); });
    all.each<watched_run>([this](const watched_run& each) { runs_.push_back(read(each)); });
    wait_lines lines(most_wait_lines);
    for (const auto& [site, waiters] : other_waiters_) {
        for (const waiter& each : waiters) {
            lines.add({for_terminal(name_of(each.seen)).text, {}, {}, each.channel, each.seen.what, {}});
        }
    }
    if (const std::string outside = lines.text(); !outside.empty())
        outside_ = "outside of runs:" + outside + "\n";
    waiting_slots_.clear();  // the slots may be destroyed after the constructor
    other_waiters_.clear();
}

WEIR_INLINE void present_runs::read(const wait_site& site) {
    site_seen seen;
    site.inspect(seen);
    for (const wait_seen& each : seen.waiting) {
        waiter found{each, each.kind == wait_kind::turn ? std::string() : for_terminal(state_of(seen)).text};
        if (each.who == nullptr) {
            other_waiters_[&site].push_back(std::move(found));
        } else {
            waiting_slots_.emplace(each.who, std::move(found));
        }
    }
}

WEIR_INLINE auto present_runs::read(const watched_run& run) -> present_run {
    run_seen seen;
    run.inspect(seen, true);
    pipeline_stats stats = run.stats();
    std::string names, text;
    for (std::size_t i = 0; i < stats.stages.size(); ++i) {
        const stage_stats& stage = stats.stages[i];
        const std::string name = for_terminal(stage.name).text;
        names += (names.empty() ? "" : " | ") + name;
        text += "  stage '" + name + "'";
        const bool has_slots = i < seen.stages.size();  // a sink, which only passes items on, has none
        const std::string place = has_slots ? place_text(seen.stages[i].per_slot[0].who->where()) : "";
        if (!place.empty()) text += " (" + place + ")";
        const char* before = ": ";
        const auto add = [&](const std::string& part) { text += std::exchange(before, "; ") + part; };
        if (has_slots && seen.is_measured) {
            add(std::to_string(stage.num_tasks) + (stage.num_tasks == 1 ? " task" : " tasks"));
            if (stage.num_failures != 0) text += ", " + std::to_string(stage.num_failures) + " failed";
        }
        for (const std::size_t each : stage.outputs) {
            const channel_stats& queue = stats.channels[each];
            add(std::to_string(queue.size) + " of " + std::to_string(queue.capacity) +
                " items in the queue behind it");
        }
        text += "\n";
        if (!has_slots) continue;
        activity_lines lines;
        for (const slot_seen& each : seen.stages[i].per_slot) {
            lines.add(each.who->number(), activity_of(each, seen.is_measured));
        }
        text += lines.text();
    }
    text += consumer_text(seen, stats);
    std::string head = names + (seen.has_ended ? "; ended; " : "; ") + std::to_string(stats.num_items) +
                       " items in " + units::time(stats.elapsed) + ", " + units::rate(stats.rate());
    if (stats.idle > duration(0) && !seen.has_ended)
        head += "; nothing has moved for " + units::time(stats.idle);
    // Removes waiters at this run's queues, as the code that takes its results: the others wait elsewhere.
    for (const stage_seen& stage : seen.stages) {
        for (const wait_site* each : stage.from) other_waiters_.erase(each);
        for (const wait_site* each : stage.to) other_waiters_.erase(each);
    }
    other_waiters_.erase(seen.last);
    return {head + "\n" + text, std::move(stats), seen.is_measured, seen.has_ended};
}

// Whether a slot (a worker of a stage) that is in this state can be in this wait.
inline bool is_wait_of(slot_state state, const wait_seen& wait) noexcept {
    if (wait.in_function) return state == slot_state::await;
    if (wait.kind == wait_kind::get) return state == slot_state::wait_get;
    if (wait.kind == wait_kind::put) return state == slot_state::wait_put;
    return state == slot_state::wait_turn || state == slot_state::off;
}

// What a slot does whose wait is not known, by the number of the slot's state.
inline constexpr auto activities = std::to_array<const char*>(
    {"off", "waiting to get", "ready to run", "working", "awaiting in its function", "waiting to put",
     "waiting for its turn", "waking other threads, or calling hooks"});

WEIR_INLINE slot_activity present_runs::activity_of(const slot_seen& seen, bool is_measured) const {
    if (seen.gone) return {"ended", {}, {}};
    slot_activity now;
    const auto found = waiting_slots_.find(seen.who);
    if (found != waiting_slots_.end() && (!is_measured || is_wait_of(seen.state, found->second.seen))) {
        const waiter& wait = found->second;
        now.what =
            std::string(wait.seen.in_function ? "its function is waiting " : "waiting ") + wait.seen.what;
        if (!wait.channel.empty()) now.where = "; " + wait.channel;
    } else if (!is_measured) {
        now.what = "not waiting in the pipeline; what it does is not measured";
    } else {
        now.what = activities[static_cast<std::size_t>(seen.state)];
        if (seen.state == slot_state::runnable) now.where = ", but no thread is free";
    }
    if (is_measured) {
        now.lasted = duration(time_between(seen.since, seen.who->clock().now().time_since_epoch().count()));
    }
    return now;
}

WEIR_INLINE std::string present_runs::consumer_text(const run_seen& run, const pipeline_stats& stats) const {
    // A last stage that uses the items itself, as `for_each`, has no queue behind it: no consumer waits.
    if (run.has_ended || stats.stages.back().outputs.empty()) return {};
    const auto found = other_waiters_.find(run.last);
    if (found == other_waiters_.end()) return "  consumer: takes no item now\n";
    const wait_seen& first = found->second.front().seen;
    return std::string("  consumer: ") + (first.is_thread ? "a thread" : "a coroutine") + " waits " +
           first.what + "\n";
}

// Why the run is not faster: the sentence of the brief verdict; if there is none, that of `explain`. With
// more than about ten stages, or batches of some ten items, `explain` takes over a second: the sentence is
// then made from the states of the slots.
WEIR_INLINE std::string sentence_on(const pipeline_stats& stats) {
    constexpr double most_tasks = 1e7;  // of all simulations; to simulate a task takes 80 ns
    if (const std::optional<verdict> brief = brief_verdict(stats)) return brief->sentence;
    try {
        const recording from = record_of(stats);
        const what_if_options usual;
        const predict_options each = in_whole_waves(usual.simulation, from.settings, from);
        const double simulations =
            (1 + 3 * static_cast<double>(stats.stages.size())) * static_cast<double>(1 + each.resamples);
        if (simulations * static_cast<double>(each.items) * (1 + tasks_per_item(from)) > most_tasks)
            return verdict_of_states(stats, "a prediction takes too long").sentence;
    } catch (const std::invalid_argument&) {  // the run can't be simulated, so `explain` returns at once
    }
    return explain(stats).sentence;
}

WEIR_INLINE std::string present_runs::verdict_on(const present_run& run) const {
    if (!run.is_measured) return "no verdict, as the run measures nothing (weir::unmeasured)\n";
    return (run.has_ended ? "verdict: " : "verdict so far: ") + sentence_on(run.stats) + "\n";
}

WEIR_INLINE std::string present_runs::states(bool with_verdicts) const {
    std::string text;
    const auto n = static_cast<std::size_t>(std::ranges::count(runs_, false, &present_run::has_ended));
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        text += "run " + std::to_string(i + 1) + ": " + runs_[i].states;
        if (with_verdicts) text += "  " + verdict_on(runs_[i]);
    }
    std::string head = n == 0   ? "no run is in progress, except on virtual time"
                       : n == 1 ? "1 run is in progress"
                                : std::to_string(n) + " runs are in progress";
    if (n != runs_.size()) head += "; ended: " + std::to_string(runs_.size() - n);
    return "weir: " + utc_now() + ": " + head + "\n" + text + outside_;
}

WEIR_INLINE std::string present_runs::verdicts() const {
    std::string text;
    for (std::size_t i = 0; i < runs_.size(); ++i)
        text += "weir: run " + std::to_string(i + 1) + ": " + verdict_on(runs_[i]);
    return text;
}

WEIR_INLINE void signal_explanations::add(int number, std::ostream& to) {
    static_cast<void>(forks_are_known);
    signal_explanations& me = *only;
    const std::lock_guard guard(me.lock_);
    if (!me.begun_ && can_catch_every_signal) {  // the pipe exists before a handler can write into it
        me.begun_ = begin_signals<&signal_explanations::tell>(signals_always);
        if (!me.begun_) {
            throw std::system_error(errno, std::generic_category(),
                                    "weir: signals need a pipe and a thread, of which one can't be had");
        }
    }
    const char* why = "";
    switch (catch_every_signal(number)) {
        case signal_catch::caught:
            me.streams_[number] = &to;
            return tell_signal_thread(signals_always, 0);
        case signal_catch::refused:
            why = "it can't be caught, or reports a fault; give explain_on_signal SIGUSR1 or SIGUSR2";
            break;
        case signal_catch::taken:
            why =
                "the program has a handler for it, or stop_on_signals; give explain_on_signal another "
                "signal, as SIGUSR1 or SIGUSR2";
            break;
        case signal_catch::unsupported:
            why = "this system has no signals of POSIX; call explain_all_runs, which returns the text";
            break;
    }
    throw std::invalid_argument("weir: signal " + std::to_string(number) +
                                " can't print explanations: " + why);
}

WEIR_INLINE void signal_explanations::print(int number) noexcept {
    const std::lock_guard guard(lock_);
    std::ostream* const to = streams_[number];
    if (to == nullptr) return;
    try {
        const present_runs runs;
        // Each text is one insertion, so that the output of other threads is before or behind it.
        *to << runs.states() << std::flush;
        *to << runs.verdicts() << std::flush;
    } catch (...) {  // NOLINT(bugprone-empty-catch): the next signal may find memory, or a stream that works
    }
}

WEIR_INLINE void signal_explanations::forget_all() noexcept {
    new (&lock_) standard_platform::mutex;  // at the fork, another thread may have held the lock
    for (std::ostream*& each : streams_) each = nullptr;
    if (begun_) forget_signals(signals_always);
    begun_ = false;
}

}  // namespace weir::detail

#endif
