// weir report, internal: bodies of the functions of report/watchdog.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_WATCHDOG_IPP
#define WEIR_REPORT_WATCHDOG_IPP

#include <weir/report/watchdog.hpp>

#include <weir/platform/config.hpp>
#include <weir/report/escape.hpp>

#include <algorithm>  // for std::find, std::max
#include <map>        // for std::multimap
#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::exchange, std::move

namespace weir {

WEIR_INLINE std::string deadlock_report::text() const {
    detail::wait_lines lines(max_lines);
    for (const stuck_wait& w : waits) {
        lines.add({detail::for_terminal(w.who).text, detail::for_terminal(w.stage).text, w.where,
                   detail::for_terminal(w.at).text, w.what, "; " + detail::for_terminal(why(w)).text});
    }
    return std::string("weir: deadlock: ") + (waits.size() == 1 ? "this wait" : "these waits") +
           " can't end any more" + (partial ? ", though others go on:" : ":") + lines.text();
}

WEIR_INLINE std::string deadlock_report::why(const stuck_wait& w) const {
    if (w.by_anyone) {
        return w.at.empty() ? "nobody is left who could end that"
                            : "nobody is left to " + std::string(w.what == "to put" ? "get" : "put");
    }
    if (w.needs.empty()) return "those who could end that have ended";
    std::vector<std::string> names;
    for (const std::size_t i : w.needs) {
        const stuck_wait& needed = waits[i];
        std::string name = needed.stage.empty() ? needed.who : "stage '" + needed.stage + "'";
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    constexpr std::size_t most = 3;
    std::string text = "that needs ";
    for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : " or ") + names[i];
    if (names.size() > most) text += " or " + std::to_string(names.size() - most) + " more";
    return text + (names.size() == 1 ? ", which waits itself" : ", which wait themselves");
}

WEIR_INLINE std::string stall_report::text() const {
    std::string text = "weir: stall: " + std::to_string(workers) + " of a pool's " + std::to_string(of) +
                       (of == 1 ? " worker has" : " workers have") + " been held for " +
                       std::to_string(held.count() / 1'000'000) + " ms, while coroutines wait to run";
    const char* before = "; these functions run: ";
    for (const std::string& each : functions)
        text += std::exchange(before, "; ") + detail::for_terminal(each).text;
    return text + ". What blocks belongs on a weir::blocking_pool: .executor = &io";
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE void known_waits::report_new(const wait_graph& graph, time_point now,
                                         std::vector<deadlock_report>& deadlocks) {
    struct group {
        std::vector<std::size_t> waits;
        bool is_new = true;
    };
    std::map<std::size_t, group> groups;
    std::map<key, known_wait> known;
    for (std::size_t i = 0; i < graph.waits.size(); ++i) {
        const auto& w = graph.waits[i];
        const auto old = known_.find(key_of(graph, w));
        known[key_of(graph, w)] = old != known_.end() ? old->second : known_wait{now};
        if (w.alive) continue;
        group& g = groups[w.group];
        g.waits.push_back(i);
        g.is_new = g.is_new && old != known_.end() && !old->second.reported;
    }
    known_ = std::move(known);
    for (const auto& [unused, g] : groups) {
        if (!g.is_new) continue;
        deadlocks.push_back(report_of(graph, g.waits, now));
        for (const std::size_t i : g.waits) known_[key_of(graph, graph.waits[i])].reported = true;
    }
}

WEIR_INLINE std::vector<std::size_t> known_waits::in_order(const wait_graph& graph,
                                                           const std::vector<std::size_t>& group) {
    std::map<line_key, std::size_t> numbers;
    std::map<std::size_t, std::size_t> line_of;  // the key is the index of a wait
    for (const std::size_t i : group) {
        const auto& w = graph.waits[i];
        const line_key key{graph.sites[w.at].site, w.seen.who == nullptr ? nullptr : &w.seen.who->stage(),
                           w.seen.kind, w.seen.in_function};
        line_of[i] = numbers.emplace(key, numbers.size()).first->second;
    }
    std::vector<std::vector<std::size_t>> needs(numbers.size());
    std::vector<bool> has_needs(numbers.size());
    for (const std::size_t i : group) {  // the waits of a line have the same needs
        if (has_needs[line_of[i]]) continue;
        has_needs[line_of[i]] = true;
        std::vector<std::size_t>& of_line = needs[line_of[i]];
        for (const std::size_t k : graph.enders_of(graph.waits[i])) {
            const auto found = line_of.find(k);
            if (found == line_of.end()) continue;
            if (std::find(of_line.begin(), of_line.end(), found->second) == of_line.end())
                of_line.push_back(found->second);
        }
    }
    const std::vector<std::size_t> steps = detail::steps_to_cause(needs);
    std::multimap<std::pair<std::size_t, unsigned>, std::size_t> sorted;
    for (const std::size_t i : group) {
        sorted.emplace(std::pair(steps[line_of[i]], detail::rank_of(graph.waits[i].seen)), i);
    }
    std::vector<std::size_t> order;
    for (const auto& [unused, i] : sorted) order.push_back(i);
    return order;
}

WEIR_INLINE deadlock_report known_waits::report_of(const wait_graph& graph,
                                                   const std::vector<std::size_t>& group,
                                                   time_point now) const {
    deadlock_report report;
    report.partial = graph.is_anything_alive();
    const std::vector<std::size_t> order = in_order(graph, group);
    std::map<std::size_t, std::size_t> place_of;  // the key is the index of a wait
    for (const std::size_t i : order) place_of.emplace(i, place_of.size());
    for (const std::size_t i : order) {
        const auto& w = graph.waits[i];
        const site_seen& at = graph.sites[w.at];
        stuck_wait& s = report.waits.emplace_back();
        wait_words words = detail::words_of(at, w.seen);
        s.who = std::move(words.who);
        s.stage = std::move(words.stage);
        s.where = std::move(words.where);
        s.at = std::move(words.at);
        s.what = std::move(words.what);
        if (w.seen.who != nullptr) s.slot = w.seen.who->number();
        if (at.channel != nullptr) s.channel = *at.channel;
        s.size = at.size;
        s.capacity = at.capacity;
        s.seen = now - known_.at(key_of(graph, w)).since;
        s.in_function = w.seen.in_function && w.seen.who != nullptr;
        s.by_anyone = graph.by_anyone(w);
        for (const std::size_t k : graph.enders_of(w, stuck_wait::most_needs)) {
            const auto found = place_of.find(k);
            if (found != place_of.end()) s.needs.push_back(found->second);
        }
    }
    return report;
}

WEIR_INLINE bool observed_pool::is_newly_held(time_point now, duration limit) {
    workers_.resize(view_.workers.size());
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        const worker_view& w = view_.workers[i];
        if (w.runs && w.done == workers_[i].done) continue;
        workers_[i] = {w.done, now};
    }
    const bool crowded = view_.crowded && was_crowded_;
    was_crowded_ = view_.crowded;
    bool held = false;
    for (const worker& w : workers_) held = held || now - w.since >= limit;
    reported_ = reported_ && held;
    return held && crowded && !reported_;
}

WEIR_INLINE stall_report observed_pool::report(const wait_graph& graph, time_point now,
                                               duration limit) const {
    stall_report report;
    report.of = workers_.size();
    for (const worker& w : workers_) {
        if (now - w.since < limit) continue;
        ++report.workers;
        report.held = (std::max)(report.held, now - w.since);
    }
    wait_lines lines;
    graph.each_running([&lines](const slot& s) {
        wait_seen seen;
        seen.who = &s;
        lines.add(detail::words_of({}, seen));
    });
    report.functions = lines.subjects();
    return report;
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE watchdog::watchdog(executors all, watchdog_options options) : options_(std::move(options)) {
    if (options_.period < duration(0) || options_.blocked_after <= duration(0)) {
        throw std::invalid_argument(
            "weir: a watchdog's period can't be negative (0: it inspects when it is told to), and its "
            "blocked_after has to be more than 0");
    }
    for (executor& each : all) pools_.emplace_back(each.lasting());
    static_cast<void>(record::acquire());  // from now on, the calling thread counts as one that may end waits
    if (options_.period > duration(0)) thread_.set(1, [this](unsigned) { work(); });
}

WEIR_INLINE watchdog::~watchdog() {
    stop_.set();
    thread_.join();
}

WEIR_INLINE std::size_t watchdog::inspect(time_point now) {
    std::vector<deadlock_report> deadlocks;
    std::vector<stall_report> stalls;
    if (thread_.are_elsewhere()) throw forked_error();
    {
        const std::lock_guard guard(inspecting_);
        inspect_all(now, deadlocks, stalls);
    }
    for (const deadlock_report& r : deadlocks) tell(options_.on_deadlock, r);
    for (const stall_report& r : stalls) tell(options_.on_stall, r);
    return deadlocks.size() + stalls.size();
}

WEIR_INLINE void watchdog::work() {
    detail::mark_registry_reader();
    while (!stop_.wait(options_.period.count())) {
        try {
            inspect();
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next inspection may succeed
        }
    }
}

WEIR_INLINE void watchdog::inspect_all(time_point now, std::vector<deadlock_report>& deadlocks,
                                       std::vector<stall_report>& stalls) {
    const std::optional<readings> before = all_quiet();
    const bool nobody = before && before == quiet_;
    std::vector<detail::observed_pool*> held;
    for (detail::observed_pool& p : pools_) {
        if (p.is_newly_held(now, options_.blocked_after)) held.push_back(&p);
    }

    const detail::registry::reader all(*detail::the_registry);
    detail::wait_graph graph;
    graph.read(all, nobody || !held.empty());
    std::unordered_map<const detail::wait_site*, std::uint64_t> moved;
    const auto read = [&](const detail::wait_site& site) {
        const std::uint64_t count = site.moved();
        const auto found = moved_.find(&site);
        moved.emplace(&site, count);
        if (found == moved_.end() || found->second == count) graph.read(site);
    };
    graph.each_queue(read);
    all.each<detail::wait_site>(read);
    moved_ = std::move(moved);

    quiet_ = all_quiet();
    graph.find_alive(!nobody || quiet_ != before);
    waits_.report_new(graph, now, deadlocks);
    for (detail::observed_pool* const p : held) {
        stalls.push_back(p->report(graph, now, options_.blocked_after));
        p->set_reported();
    }
}

WEIR_INLINE auto watchdog::all_quiet() -> std::optional<readings> {
    readings all;
    const std::uint64_t ended = external_wait::num_ended();
    all.push_back(external_wait::num_begun());
    bool quiet = all.back() == ended;
    for (detail::observed_pool& p : pools_) {
        const detail::executor_view& view = p.inspect();
        quiet = quiet && !view.pending;
        all.push_back(view.resumed);
    }
    std::vector<std::size_t> stuck(pools_.size(), 0);
    const record* const me = record::mine();
    record::each([&](const record& r) {
        if (&r == me || !r.in_use() || r.serves() == &*detail::the_registry) return;
        const std::uint64_t block = r.number_of_stuck_wait();
        std::size_t i = 0;
        while (i < pools_.size() && !pools_[i].inspects(r.serves())) ++i;
        if (i == pools_.size()) {
            quiet = quiet && block != 0;
        } else if (block != 0) {
            ++stuck[i];
        }
        if (block != 0) all.push_back(block);
    });
    for (std::size_t i = 0; i < pools_.size(); ++i) quiet = quiet && pools_[i].view().busy == stuck[i];
    if (!quiet) return std::nullopt;
    return all;
}

}  // namespace weir

#endif
