// weir report, internal: the graph of all waits, for the watchdog: which waits can never end, and their cause
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_WAIT_GRAPH_HPP
#define WEIR_REPORT_WAIT_GRAPH_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/registry.hpp>
#include <weir/run/run_interfaces.hpp>

#include <cstddef>        // for std::size_t
#include <cstdint>        // for std::uintptr_t
#include <numeric>        // for std::iota
#include <unordered_map>  // for std::unordered_map
#include <unordered_set>  // for std::unordered_set
#include <utility>        // for std::move
#include <vector>         // for std::vector

namespace weir::detail {

// All waits of an instant. The runs and sites are registered, and stay in place, while the graph reads them.
// A slot is alive unless it has ended or waits. A wait is alive if a slot that could end it is alive. Waits
// that are not alive at the end never end. They are a greatest fixpoint: the sets of unfounded waits in the
// or-graphs of E. Knapp, "Deadlock detection in distributed databases" (1987), section 4.
class wait_graph {
  public:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct wait {
        std::size_t at;  // index in `sites`
        wait_seen seen;
        std::size_t slot;  // index in `slots_`; `none`: the waiter is not a slot of a run
        bool alive = false;
        std::size_t group = 0;  // the same for waits that could end each other
    };

    std::vector<site_seen> sites;
    std::vector<wait> waits;

    // Reads which slots there are and which have ended; called before any site is read. A slot that has
    // ended closed its channels before, so no wait that it could still end is read afterwards.
    void read(const registry::reader& all, bool states) {
        all.each<watched_run>([&](const watched_run& r) {
            run_seen seen;
            r.inspect(seen, states);
            const std::size_t first = slots_.size();
            for (stage_seen& s : seen.stages) {
                const std::size_t stage = stages_.size();
                for (const wait_site* p : s.from) ends_of(p).takers.push_back(stage);
                for (const wait_site* p : s.to) ends_of(p).givers.push_back(stage);
                stages_.push_back({runs_.size(), slots_.size(), s.per_slot.size(), seen.has_failed});
                for (const slot_seen& each : s.per_slot) {
                    slot_of_[each.who] = slots_.size();
                    slots_.push_back({each, stage, false, {}});
                }
            }
            ends_of(seen.last).is_last = true;
            runs_.push_back({first, slots_.size() - first});
        });
    }

    template <class Function>
    void each_queue(Function function) const {
        for (const wait_site* p : queues_) function(*p);
    }

    void read(const wait_site& site) {
        if (!seen_.insert(&site).second) return;
        site_seen now;
        site.inspect(now);
        if (now.waiting.empty()) return;
        for (const wait_seen& w : now.waiting) {
            const auto found = slot_of_.find(w.who);
            const std::size_t slot = found == slot_of_.end() ? none : found->second;
            if (slot != none && w.kind == wait_kind::bench) {
                slots_[slot].seen.gone = true;  // out of service until somebody outside calls it back
            } else {
                waits.push_back({sites.size(), w, slot});
            }
        }
        sites.push_back(std::move(now));
    }

    // Finds the waits that are alive. `anybody`: something unknown may run, and do anything. If not, a
    // function that has a thread blocks that thread.
    void revive(bool anybody) {
        for (std::size_t i = 0; !anybody && i < slots_.size(); ++i) {
            const slot* const who = slots_[i].seen.who;
            if (!slots_[i].seen.runs || slots_[i].seen.gone) continue;
            waits.push_back({sites.size(), {}, i});
            waits.back().seen = {reinterpret_cast<std::uintptr_t>(who), wait_kind::thread,
                                 "in its function, which blocks a thread", who, true};
            sites.emplace_back();
        }
        for (std::size_t i = 0; i < waits.size(); ++i) {
            if (waits[i].slot != none) slots_[waits[i].slot].waits.push_back(i);
        }
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            slots_[i].alive = !slots_[i].seen.gone && slots_[i].waits.empty();
            anybody = anybody || slots_[i].alive;
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (wait& w : waits) {
                if (w.alive || !could_end(w, anybody)) continue;
                w.alive = changed = anybody = true;
                if (w.slot != none) slots_[w.slot].alive = true;
            }
        }
        somebody_lives_ = anybody;
        group();
    }
    bool somebody_lives() const noexcept { return somebody_lives_; }

    // \returns the waits of the slots that could end this one. A wait inside of a function may need its own
    //          slot: for items that only its stage gives. Called after `revive`.
    std::vector<std::size_t> enders_of(const wait& w) const {
        std::vector<std::size_t> found;
        if (by_anyone(w)) return found;
        each_ender(w, [&](const known_slot& s) {
            for (const std::size_t i : s.waits) {
                if (&waits[i] != &w || w.seen.in_function) found.push_back(i);
            }
        });
        return found;
    }

    // Whether any coroutine or thread could end the wait, because nothing is known of who uses the site.
    bool by_anyone(const wait& w) const {
        if (w.seen.kind == wait_kind::get || w.seen.kind == wait_kind::put) {
            const auto found = ends_.find(sites[w.at].site);
            return found == ends_.end() ||
                   (w.seen.kind == wait_kind::put ? found->second.is_last : found->second.givers.empty());
        }
        return w.slot == none || w.seen.kind == wait_kind::thread;
    }

    // Calls `function(slot)` for each slot whose function has a thread.
    template <class Function>
    void each_running(Function function) const {
        for (const known_slot& s : slots_) {
            if (s.seen.runs) function(*s.seen.who);
        }
    }

  private:
    struct queue_ends {
        std::vector<std::size_t> givers;  // the stages that put
        std::vector<std::size_t> takers;  // the stages that get
        bool is_last = false;
    };
    struct known_stage {
        std::size_t run;
        std::size_t first;  // slot
        std::size_t count;  // of slots
        bool failed;
    };
    struct known_slot {
        slot_seen seen;
        std::size_t stage;
        bool alive = false;
        std::vector<std::size_t> waits = {};
    };
    struct known_run {
        std::size_t first;  // slot
        std::size_t count;  // of slots
    };

    queue_ends& ends_of(const wait_site* queue) {
        if (ends_.find(queue) == ends_.end()) queues_.push_back(queue);
        return ends_[queue];
    }

    // Calls `function(slot)` for each slot that could end the wait.
    template <class Function>
    void each_ender(const wait& w, Function function) const {
        const auto each = [&](std::size_t first, std::size_t count) {
            for (std::size_t i = first; i < first + count; ++i) function(slots_[i]);
        };
        const auto of_stage = [&](std::size_t stage) { each(stages_[stage].first, stages_[stage].count); };
        const wait_kind kind = w.seen.kind;
        if (kind == wait_kind::get || kind == wait_kind::put) {
            const queue_ends& ends = ends_.find(sites[w.at].site)->second;
            const bool takes = kind == wait_kind::get && w.slot != none && !w.seen.in_function;
            const std::size_t own = takes ? slots_[w.slot].stage : none;
            for (const std::size_t s : kind == wait_kind::get ? ends.givers : ends.takers) {
                if (s != own) of_stage(s);
            }
            // A slot that stops closes the input queues of its stage for its other slots, too.
            if (own != none) of_stage(own);
        } else if (kind == wait_kind::turn) {
            of_stage(slots_[w.slot].stage);
        } else {
            const known_run& run = runs_[stages_[slots_[w.slot].stage].run];
            each(run.first, run.count);
        }
    }

    bool could_end(const wait& w, bool anybody) const {
        if (w.seen.has_limit || w.seen.kind == wait_kind::outside) return true;
        if (by_anyone(w)) return anybody;
        // The consumer makes room, too, and is not a slot. In a run that has failed, stages end each other
        // in more ways than the graph shows.
        if (anybody && (w.seen.kind == wait_kind::room || has_failed(w))) return true;
        bool any = false;
        each_ender(w, [&any](const known_slot& s) { any = any || s.alive; });
        return any;
    }

    bool has_failed(const wait& w) const { return w.slot != none && stages_[slots_[w.slot].stage].failed; }

    // Groups the waits that depend on each other. All waits that anybody could end are one group.
    void group() {
        std::vector<std::size_t> of(waits.size() + 1);
        std::iota(of.begin(), of.end(), std::size_t{0});
        const auto root = [&](std::size_t i) {
            while (of[i] != i) i = of[i] = of[of[i]];
            return i;
        };
        for (std::size_t i = 0; i < waits.size(); ++i) {
            if (waits[i].alive) continue;
            if (by_anyone(waits[i])) of[root(i)] = root(waits.size());
            for (const std::size_t k : enders_of(waits[i])) of[root(i)] = root(k);
        }
        for (std::size_t i = 0; i < waits.size(); ++i) waits[i].group = root(i);
    }

    std::vector<known_run> runs_;
    std::vector<known_stage> stages_;
    std::vector<known_slot> slots_;
    std::unordered_map<const slot*, std::size_t> slot_of_;
    std::vector<const wait_site*> queues_;  // the queues of all runs
    std::unordered_map<const wait_site*, queue_ends> ends_;
    std::unordered_set<const wait_site*> seen_;
    bool somebody_lives_ = false;
};

// \param needs  `needs[i]`: node `i` can go on when one of these nodes does.
// \returns      the distance of each node from a cause. A cause needs no node, or only nodes of circles that
//               lead back to it.
inline std::vector<std::size_t> steps_to_cause(const std::vector<std::vector<std::size_t>>& needs) {
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

    // The other nodes lead into circles.
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
