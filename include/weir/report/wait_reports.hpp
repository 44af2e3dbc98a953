// weir report, internal: finds what a watchdog reports: new deadlocks in the graph of waits, and held workers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_WAIT_REPORTS_HPP
#define WEIR_REPORT_WAIT_REPORTS_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/report/deadlock_report.hpp>
#include <weir/report/wait_graph.hpp>

#include <algorithm>  // for std::find, std::max
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <map>        // for std::map, std::multimap
#include <string>     // for std::string
#include <tuple>      // for std::tuple
#include <utility>    // for std::move, std::pair
#include <vector>     // for std::vector

namespace weir::detail {

// Finds deadlocks that are new.
class known_waits {
  public:
    // Adds a report for each group of waits that never end, if the previous call has seen every wait of the
    // group and the group has not been reported.
    void report_new(const wait_graph& graph, time_point now, std::vector<deadlock_report>& deadlocks) {
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

  private:
    struct known_wait {
        time_point since{};
        bool reported = false;
    };
    using key = std::pair<std::uint64_t, std::uint64_t>;  // number of the site, number of the wait there

    static key key_of(const wait_graph& graph, const wait_graph::wait& w) {
        const wait_site* const at = graph.sites[w.at].site;
        return {at == nullptr ? 0 : at->serial(), w.seen.number};
    }

    // Waits of the same kind in the same stage at the same site are one line of a report.
    using line_key = std::tuple<const wait_site*, const std::string*, wait_kind, bool>;

    // \returns the waits of the group, those closest to the cause first.
    static std::vector<std::size_t> in_order(const wait_graph& graph, const std::vector<std::size_t>& group) {
        std::map<line_key, std::size_t> numbers;
        std::map<std::size_t, std::size_t> line_of;  // by wait
        for (const std::size_t i : group) {
            const auto& w = graph.waits[i];
            const line_key key{graph.sites[w.at].site, w.seen.who == nullptr ? nullptr : &w.seen.who->stage(),
                               w.seen.kind, w.seen.in_function};
            line_of[i] = numbers.emplace(key, numbers.size()).first->second;
        }
        std::vector<std::vector<std::size_t>> needs(numbers.size());
        for (const std::size_t i : group) {
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

    deadlock_report report_of(const wait_graph& graph, const std::vector<std::size_t>& group,
                              time_point now) const {
        deadlock_report report;
        report.partial = graph.somebody_lives();
        const std::vector<std::size_t> order = in_order(graph, group);
        std::map<std::size_t, std::size_t> place_of;  // by wait
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
            for (const std::size_t k : graph.enders_of(w)) {
                const auto found = place_of.find(k);
                if (found != place_of.end()) s.needs.push_back(found->second);
            }
        }
        return report;
    }

    std::map<key, known_wait> known_;
};

// An executor, and since when each of its workers has been on the same task.
class observed_pool {
  public:
    explicit observed_pool(executor& ex) : executor_(&ex, executor_user::watchdog) {}

    bool is(const void* ex) const noexcept { return &*executor_ == ex; }

    // Errors: `std::bad_alloc`; then the view is empty.
    const executor_view& inspect() {
        view_ = {};
        executor_->inspect(view_);
        return view_;
    }
    const executor_view& view() const noexcept { return view_; }

    // \returns whether a worker has been held for `limit` or longer while coroutines wait for a worker, now
    //          and at the previous call. False from `set_reported` on until no worker is held.
    bool is_newly_held(time_point now, duration limit) {
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
    void set_reported() noexcept { reported_ = true; }

    stall_report report(const wait_graph& graph, time_point now, duration limit) const {
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

  private:
    struct worker {
        std::uint64_t done = 0;
        time_point since{};  // when the worker began its task
    };

    executor_use executor_;
    executor_view view_;
    std::vector<worker> workers_;
    bool was_crowded_ = false;
    bool reported_ = false;
};

}  // namespace weir::detail

#endif
