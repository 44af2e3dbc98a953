// weir report, internal: bodies of the functions of report/wait_graph.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_WAIT_GRAPH_IPP
#define WEIR_REPORT_WAIT_GRAPH_IPP

#include <weir/report/wait_graph.hpp>

#include <weir/platform/config.hpp>

#include <cstdint>  // for std::uintptr_t
#include <numeric>  // for std::iota
#include <utility>  // for std::move

namespace weir::detail {

WEIR_INLINE void wait_graph::read(const registry::reader& all, bool states) {
    all.each<watched_run>([&](const watched_run& r) {
        run_seen seen;
        r.inspect(seen, states);
        const std::size_t first = stages_.size();
        for (stage_seen& s : seen.stages) {
            const std::size_t stage = stages_.size();
            for (const wait_site* p : s.from) ends_of(p).takers.push_back(stage);
            for (const wait_site* p : s.to) ends_of(p).givers.push_back(stage);
            stages_.push_back({runs_.size(), slots_.size(), s.per_slot.size(), seen.has_failed});
            for (const slot_seen& each : s.per_slot) {
                slot_of_[each.who] = slots_.size();
                slots_.push_back({each, stage, {}});
            }
        }
        ends_of(seen.last).is_last = true;
        runs_.push_back({first, stages_.size() - first});
    });
}

WEIR_INLINE void wait_graph::read(const wait_site& site) {
    if (!seen_.insert(&site).second) return;
    site_seen now;
    site.inspect(now);
    if (now.waiting.empty()) return;
    for (const wait_seen& w : now.waiting) {
        const auto found = slot_of_.find(w.who);
        const std::size_t slot = found == slot_of_.end() ? none : found->second;
        if (slot != none && w.kind == wait_kind::bench) {
            slots_[slot].seen.gone = true;  // unused until the concurrency of the stage rises
        } else {
            waits.push_back({sites.size(), w, slot});
        }
    }
    sites.push_back(std::move(now));
}

WEIR_INLINE void wait_graph::find_alive(bool anybody) {
    for (std::size_t i = 0; !anybody && i < slots_.size(); ++i) {
        const slot* const who = slots_[i].seen.who;
        if (!has_thread(slots_[i].seen.state) || slots_[i].seen.gone) continue;
        waits.push_back({sites.size(), {}, i});
        waits.back().seen = {reinterpret_cast<std::uintptr_t>(who), wait_kind::thread,
                             "in its function, which blocks a thread", who, true};
        sites.emplace_back();
    }
    for (std::size_t i = 0; i < waits.size(); ++i) {
        if (waits[i].slot != none) slots_[waits[i].slot].waits.push_back(i);
    }
    for (known_slot& s : slots_) {
        if (s.seen.gone || !s.waits.empty()) continue;
        stages_[s.stage].alive = anybody = true;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (wait& w : waits) {
            if (w.alive || !could_end(w, anybody)) continue;
            w.alive = changed = anybody = true;
            if (w.slot != none) stages_[slots_[w.slot].stage].alive = true;
        }
    }
    is_anything_alive_ = anybody;
    group();
}

WEIR_INLINE std::vector<std::size_t> wait_graph::enders_of(const wait& w, std::size_t most) const {
    std::vector<std::size_t> found;
    if (by_anyone(w)) return found;
    each_ender(w, [&](std::size_t stage) {
        const std::size_t before = found.size();
        for (std::size_t k = 0; k < stages_[stage].count && found.size() - before < most; ++k) {
            for (const std::size_t i : slots_[stages_[stage].first + k].waits) {
                if (&waits[i] != &w || w.seen.in_function) found.push_back(i);
            }
        }
    });
    return found;
}

WEIR_INLINE bool wait_graph::by_anyone(const wait& w) const {
    if (w.seen.kind == wait_kind::get || w.seen.kind == wait_kind::put) {
        const auto found = ends_.find(sites[w.at].site);
        return found == ends_.end() ||
               (w.seen.kind == wait_kind::put ? found->second.is_last : found->second.givers.empty());
    }
    return w.slot == none || w.seen.kind == wait_kind::thread;
}

WEIR_INLINE bool wait_graph::could_end(const wait& w, bool anybody) const {
    if (w.seen.has_limit || w.seen.kind == wait_kind::outside) return true;
    if (by_anyone(w)) return anybody;
    // A wait of kind `others` can be ended by each slot (worker of a stage) of the run, and by the consumer,
    // which takes the results. In a run that has failed, stages end the waits of other stages in more ways
    // than the graph shows.
    if (anybody && (w.seen.kind == wait_kind::others || has_failed(w))) return true;
    bool any = false;
    each_ender(w, [&](std::size_t stage) { any = any || stages_[stage].alive; });
    return any;
}

WEIR_INLINE void wait_graph::group() {
    std::vector<std::size_t> of(waits.size() + 1);
    std::iota(of.begin(), of.end(), std::size_t{0});
    const auto root = [&](std::size_t i) {
        while (of[i] != i) i = of[i] = of[of[i]];
        return i;
    };
    std::vector<std::size_t> first(stages_.size(), none);  // of each stage: a wait of its slots
    for (std::size_t i = 0; i < waits.size(); ++i) {
        if (waits[i].slot != none) first[slots_[waits[i].slot].stage] = i;
    }
    std::vector<bool> is_one(stages_.size());  // the waits of the stage's slots are in one group
    for (std::size_t i = 0; i < waits.size(); ++i) {
        if (waits[i].alive) continue;
        if (by_anyone(waits[i])) {
            of[root(i)] = root(waits.size());
            continue;
        }
        each_ender(waits[i], [&](std::size_t stage) {
            const known_stage& s = stages_[stage];
            if (first[stage] == none) return;
            for (std::size_t k = s.first; k < s.first + s.count && !is_one[stage]; ++k) {
                for (const std::size_t other : slots_[k].waits) of[root(other)] = root(first[stage]);
            }
            is_one[stage] = true;
            of[root(i)] = root(first[stage]);
        });
    }
    for (std::size_t i = 0; i < waits.size(); ++i) waits[i].group = root(i);
}

WEIR_INLINE std::vector<std::size_t> steps_to_cause(const std::vector<std::vector<std::size_t>>& needs) {
    constexpr auto unknown = static_cast<std::size_t>(-1);
    const std::size_t n = needs.size();
    std::vector<std::vector<std::size_t>> needed_by(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (const std::size_t k : needs[i]) needed_by[k].push_back(i);
    }
    std::vector<std::size_t> steps(n, unknown);
    std::vector<std::size_t> known;
    const auto is_cause = [&](std::size_t i) {
        steps[i] = 0;
        known.push_back(i);
    };
    const auto spread = [&] {
        for (std::size_t next = 0; next < known.size(); ++next) {
            for (const std::size_t i : needed_by[known[next]]) {
                if (steps[i] != unknown) continue;
                steps[i] = steps[known[next]] + 1;
                known.push_back(i);
            }
        }
        known.clear();
    };

    for (std::size_t i = 0; i < n; ++i) {
        if (needs[i].empty()) is_cause(i);
    }
    spread();

    // Each node without a distance leads into a cycle.
    std::vector<std::vector<bool>> leads_to(n);
    for (std::size_t i = 0; i < n; ++i) {
        if (steps[i] != unknown) continue;
        leads_to[i].resize(n);
        std::vector<std::size_t> open{i};
        while (!open.empty()) {
            const std::size_t at = open.back();
            open.pop_back();
            for (const std::size_t k : needs[at]) {
                if (leads_to[i][k]) continue;
                leads_to[i][k] = true;
                open.push_back(k);
            }
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        bool cause = steps[i] == unknown;
        for (std::size_t k = 0; cause && k < n; ++k) cause = !leads_to[i][k] || leads_to[k][i];
        if (cause) is_cause(i);
    }
    spread();
    return steps;
}

}  // namespace weir::detail

#endif
