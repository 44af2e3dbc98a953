// weir report, internal: bodies of the functions of report/watchdog.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_WATCHDOG_IPP
#define WEIR_REPORT_WATCHDOG_IPP

#include <weir/report/watchdog.hpp>

#include <weir/platform/config.hpp>

#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::invalid_argument

namespace weir {

WEIR_INLINE watchdog::watchdog(executors all, watchdog_options options) : options_(std::move(options)) {
    if (options_.period < duration(0) || options_.blocked_after <= duration(0)) {
        throw std::invalid_argument(
            "weir: a watchdog's period can't be negative (0: it inspects when it is told to), and its "
            "blocked_after has to be more than 0");
    }
    for (executor& each : all) pools_.emplace_back(each.lasting());
    static_cast<void>(record::acquire());  // the calling thread counts from now on
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
    if (record* const me = record::acquire()) me->serve(&watchers_);
    while (!stop_.wait(options_.period.count())) {
        try {
            inspect();
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next one may succeed
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
    graph.revive(!nobody || quiet_ != before);
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
        if (&r == me || !r.in_use() || r.serves() == &watchers_) return;
        const std::uint64_t block = r.is_stuck();
        std::size_t i = 0;
        while (i < pools_.size() && !pools_[i].is(r.serves())) ++i;
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
