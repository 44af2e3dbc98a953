// weir report, internal: the waits that a watchdog has seen, since when, and which of them it has reported
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_KNOWN_WAITS_HPP
#define WEIR_REPORT_KNOWN_WAITS_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/report/deadlock_report.hpp>
#include <weir/report/wait_graph.hpp>

#include <algorithm>  // for std::find
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <map>        // for std::map
#include <utility>    // for std::move, std::pair
#include <vector>     // for std::vector

namespace weir::detail {

class known_waits {
  public:
    // Of the waits in `graph` that nobody can end, a report for each group of which the call before has seen
    // every one, and that has not been reported yet.
    void report_new(const wait_graph& graph, time_point now, std::vector<deadlock_report>& deadlocks) {
        struct group {
            std::vector<std::size_t> waits;
            bool is_news = true;
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
            g.is_news = g.is_news && old != known_.end() && !old->second.reported;
        }
        known_ = std::move(known);
        for (const auto& [unused, g] : groups) {
            if (!g.is_news) continue;
            deadlocks.push_back(report_of(graph, g.waits, now));
            for (const std::size_t i : g.waits) known_[key_of(graph, graph.waits[i])].reported = true;
        }
    }

  private:
    struct known_wait {
        time_point since{};
        bool reported = false;
    };
    using key = std::pair<std::uint64_t, std::uint64_t>;  // of the site, of the wait there

    static key key_of(const wait_graph& graph, const wait_graph::wait& w) {
        const wait_site* const at = graph.sites[w.at].site;
        return {at == nullptr ? 0 : at->serial(), w.seen.number};
    }

    deadlock_report report_of(const wait_graph& graph, const std::vector<std::size_t>& group,
                              time_point now) const {
        deadlock_report report;
        report.partial = graph.somebody_lives();
        for (const std::size_t i : group) {
            const auto& w = graph.waits[i];
            const site_seen& at = graph.sites[w.at];
            stuck_wait& s = report.waits.emplace_back();
            s.who = name_of(w.seen);
            s.what = wait_of(at, w.seen);
            if (w.seen.who != nullptr) {
                s.stage = w.seen.who->stage();
                s.slot = w.seen.who->index();
                s.where = place_text(w.seen.who->where());
            }
            if (at.channel != nullptr) s.channel = *at.channel;
            s.size = at.size;
            s.capacity = at.capacity;
            s.seen = now - known_.at(key_of(graph, w)).since;
            s.in_function = w.seen.in_function && w.seen.who != nullptr;
            s.by_anyone = graph.by_anyone(w);
            for (const std::size_t k : graph.enders_of(w)) {
                const auto found = std::find(group.begin(), group.end(), k);
                if (found != group.end()) s.needs.push_back(static_cast<std::size_t>(found - group.begin()));
            }
        }
        return report;
    }

    std::map<key, known_wait> known_;
};

}  // namespace weir::detail

#endif
