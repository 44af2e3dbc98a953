// weir report, internal: the graph of all waits, for the watchdog: which waits can never end, and their cause
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_WAIT_GRAPH_HPP
#define WEIR_REPORT_WAIT_GRAPH_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/platform/process.hpp>
#include <weir/run/run_report.hpp>

#include <cstddef>        // for std::size_t
#include <unordered_map>  // for std::unordered_map
#include <unordered_set>  // for std::unordered_set
#include <vector>         // for std::vector

namespace weir::detail {

// The waits that an inspection by the watchdog finds. A site is an object at which coroutines and threads
// wait, such as a channel. The caller holds the lock of the registry, in which all runs and sites are, while
// the graph is used. So no run or site is destroyed meanwhile.
// At first, a slot (a worker of a stage) is alive unless it has ended or waits. A wait becomes alive if a
// slot that could end it is alive, or if a time limit or code outside of the graph may end it; then the slot
// that waits becomes alive, too. This is repeated until nothing changes. The waits that are not alive then
// never end.
// Source: E. Knapp, "Deadlock detection in distributed databases" (1987), section 4, or-graphs.
class wait_graph {
  public:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct wait {
        std::size_t at;  // index in `sites`
        wait_seen seen;
        std::size_t slot;  // index in `slots_`; `none`: the waiter is not a slot of a run
        bool alive = false;
        std::size_t group = 0;  // equal for the waits of one group; `find_alive` sets it
    };

    std::vector<site_seen> sites;
    std::vector<wait> waits;

    // Reads which slots there are and which have ended; called before any site is read. A stage closes its
    // output channels before its last slot ends. So once this function has found that all slots of a stage
    // have ended, the waits that the closing ended are over, and are not read. `states`: also reads which
    // slots a thread runs, for `each_running` and `find_alive(false)`.
    void read(const registry::reader& all, bool states);

    template <class Function>
    void each_queue(Function function) const {
        for (const wait_site* p : queues_) function(*p);
    }

    // Adds the waits at a site, unless the graph has this site already.
    void read(const wait_site& site);

    // Finds the waits that are alive. `anybody`: code that the graph doesn't know may run, and could end each
    // wait for which `by_anyone` is true. If `anybody` is false, no thread makes progress. Then each stage
    // function that occupies a thread counts as blocked, and the graph gets a wait for that function.
    void find_alive(bool anybody);
    // Whether any slot or wait is alive, or code outside of the graph may run. Called after `find_alive`.
    bool is_anything_alive() const noexcept { return is_anything_alive_; }

    // \returns the indices of the waits of the slots that could end `w`; none if `by_anyone(w)`. If a
    //          function waits for a slot of its own stage, `w` is among these waits. `most`: the most waits
    //          of one stage. Called after `find_alive`.
    std::vector<std::size_t> enders_of(const wait& w, std::size_t most = none) const;

    // Whether code that the graph doesn't know could end the wait: the consumer of a run, which takes its
    // results, or users of a channel outside of runs.
    bool by_anyone(const wait& w) const;

    // Calls `function(slot)` for each slot that a thread runs. Called after `read` with `states`.
    template <class Function>
    void each_running(Function function) const {
        for (const known_slot& s : slots_) {
            if (has_thread(s.seen.state)) function(*s.seen.who);
        }
    }

  private:
    // The stages at both ends of a queue.
    struct queue_ends {
        std::vector<std::size_t> givers;  // the stages that put
        std::vector<std::size_t> takers;  // the stages that get
        bool is_last = false;             // the consumer of the run takes from the queue
    };
    struct known_stage {
        std::size_t run;     // index in `runs_`
        std::size_t first;   // index of the stage's first slot in `slots_`
        std::size_t count;   // the number of its slots
        bool failed;         // the run has failed
        bool alive = false;  // a slot is alive
    };
    struct known_slot {
        slot_seen seen;
        std::size_t stage;                    // index in `stages_`
        std::vector<std::size_t> waits = {};  // indices in `waits` of the graph
    };
    struct known_run {
        std::size_t first;  // index of the run's first stage in `stages_`
        std::size_t count;  // the number of its stages
    };

    queue_ends& ends_of(const wait_site* queue) {
        if (ends_.find(queue) == ends_.end()) queues_.push_back(queue);
        return ends_[queue];
    }

    // Calls `function(stage)` for each stage whose slots could end the wait, with its index in `stages_`. A
    // stage, not its slots: N slots that wait, and that N others could end, make N steps, not N * N.
    template <class Function>
    void each_ender(const wait& w, Function function) const {
        const wait_kind kind = w.seen.kind;
        if (kind == wait_kind::get || kind == wait_kind::put) {
            const queue_ends& ends = ends_.find(sites[w.at].site)->second;
            const bool takes = kind == wait_kind::get && w.slot != none && !w.seen.in_function;
            const std::size_t own = takes ? slots_[w.slot].stage : none;
            for (const std::size_t s : kind == wait_kind::get ? ends.givers : ends.takers) {
                if (s != own) function(s);
            }
            // A slot of the same stage could end the get, too: a slot that stops the stage closes the queue.
            if (own != none) function(own);
        } else if (kind == wait_kind::turn) {
            function(slots_[w.slot].stage);
        } else {
            const known_run& run = runs_[stages_[slots_[w.slot].stage].run];
            for (std::size_t i = run.first; i < run.first + run.count; ++i) function(i);
        }
    }

    bool could_end(const wait& w, bool anybody) const;

    bool has_failed(const wait& w) const { return w.slot != none && stages_[slots_[w.slot].stage].failed; }

    // Groups the waits that are not alive: a wait is in one group with the waits that enders_of() returns for
    // it. All waits for which `by_anyone` is true are in one group.
    void group();

    std::vector<known_run> runs_;
    std::vector<known_stage> stages_;
    std::vector<known_slot> slots_;
    std::unordered_map<const slot*, std::size_t> slot_of_;
    std::vector<const wait_site*> queues_;  // the queues of all runs
    std::unordered_map<const wait_site*, queue_ends> ends_;
    std::unordered_set<const wait_site*> seen_;  // the sites that read() has read
    bool is_anything_alive_ = false;
};

// \param needs  `needs[i]`: the nodes of which one has to go on before node `i` can.
// \returns      for each node, the number of steps along `needs` to the nearest cause. A cause is a node that
//               needs none, or from which `needs` leads only to nodes that lead back to it.
std::vector<std::size_t> steps_to_cause(const std::vector<std::vector<std::size_t>>& needs);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/wait_graph.ipp>
#endif

#endif
