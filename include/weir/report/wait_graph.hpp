// weir report, internal: all that waits at an instant, and which of it can never go on
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_WAIT_GRAPH_HPP
#define WEIR_REPORT_WAIT_GRAPH_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/registry.hpp>
#include <weir/run/watched_run.hpp>

#include <cstddef>        // for std::size_t
#include <cstdint>        // for std::uintptr_t
#include <numeric>        // for std::iota
#include <unordered_map>  // for std::unordered_map
#include <unordered_set>  // for std::unordered_set
#include <utility>        // for std::move
#include <vector>         // for std::vector

namespace weir::detail {

// Who waits, read from the runs and sites while those are kept where they are. A slot counts as alive unless
// it has ended or is seen to wait; each wait as lively as the liveliest of those who could end it. What is
// left when nothing more can be revived waits for ever: a greatest fixpoint, as the sets of unfounded
// waits in the or-graphs of E. Knapp, "Deadlock detection in distributed databases" (1987), section 4.
class wait_graph {
  public:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct wait {
        std::size_t at;  // in `sites`
        wait_seen seen;
        std::size_t slot;  // in `slots_`; `none`: not one of a run's
        bool alive = false;
        std::size_t group = 0;  // the same for waits of which one could end the other
    };

    std::vector<site_seen> sites;
    std::vector<wait> waits;

    // Which slots there are, and which have ended. To be read before any site: what has ended has closed
    // its channels before, so no wait is seen after that which it still was to end.
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
                slots_[slot].seen.gone = true;  // until somebody outside wants it again
            } else {
                waits.push_back({sites.size(), w, slot});
            }
        }
        sites.push_back(std::move(now));
    }

    // `anybody`: there is something, of which nothing is known, that may do anything. If not, and it is known
    // which functions have a thread, then those threads are blocked.
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

    // Of the waits, those whose slot could end this one; of a wait in its function that may be the same slot,
    // for what only its stage gives. After `revive`.
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

    // Who uses the site is not known.
    bool by_anyone(const wait& w) const {
        if (w.seen.kind == wait_kind::get || w.seen.kind == wait_kind::put) {
            const auto found = ends_.find(sites[w.at].site);
            return found == ends_.end() ||
                   (w.seen.kind == wait_kind::put ? found->second.is_last : found->second.givers.empty());
        }
        return w.slot == none || w.seen.kind == wait_kind::thread;
    }

    // The slots whose function has a thread.
    template <class Function>
    void each_running(Function function) const {
        for (const known_slot& s : slots_) {
            if (s.seen.runs) function(*s.seen.who);
        }
    }

  private:
    struct queue_ends {
        std::vector<std::size_t> givers;  // stages
        std::vector<std::size_t> takers;
        bool is_last = false;
    };
    struct known_stage {
        std::size_t run;
        std::size_t first;  // of its slots
        std::size_t count;
        bool failed;
    };
    struct known_slot {
        slot_seen seen;
        std::size_t stage;
        bool alive = false;
        std::vector<std::size_t> waits = {};
    };
    struct known_run {
        std::size_t first;  // of its slots
        std::size_t count;
    };

    queue_ends& ends_of(const wait_site* queue) {
        if (ends_.find(queue) == ends_.end()) queues_.push_back(queue);
        return ends_[queue];
    }

    // For each slot that could end the wait by what it does.
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
            // A slot that gives up ends the queues before its stage for the others, too.
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
        // The consumer, of whom all that is known is whether it waits, makes room as well; and in a run that
        // has failed stages end each other by more ways than its graph shows.
        if (anybody && (w.seen.kind == wait_kind::room || has_failed(w))) return true;
        bool any = false;
        each_ender(w, [&any](const known_slot& s) { any = any || s.alive; });
        return any;
    }

    bool has_failed(const wait& w) const { return w.slot != none && stages_[slots_[w.slot].stage].failed; }

    // Waits that depend on one another form a group; so do all that depend on anybody.
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
    std::vector<const wait_site*> queues_;  // of all runs
    std::unordered_map<const wait_site*, queue_ends> ends_;
    std::unordered_set<const wait_site*> seen_;
    bool somebody_lives_ = false;
};

}  // namespace weir::detail

#endif
