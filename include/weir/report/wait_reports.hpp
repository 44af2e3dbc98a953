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

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <map>      // for std::map
#include <string>   // for std::string
#include <tuple>    // for std::tuple
#include <utility>  // for std::pair
#include <vector>   // for std::vector

namespace weir::detail {

// Finds deadlocks that are new.
class known_waits {
  public:
    // Adds a report for each group of waits that never end, if the previous call has seen every wait of the
    // group and the group has not been reported.
    void report_new(const wait_graph& graph, time_point now, std::vector<deadlock_report>& deadlocks);

  private:
    struct known_wait {
        time_point since{};
        bool reported = false;
    };
    using key = std::pair<std::uint64_t, std::uint64_t>;  // number of the site, number of the wait there

    static key key_of(const wait_graph& graph, const wait_graph::wait& w);

    // Waits of the same kind in the same stage at the same site are one line of a report.
    using line_key = std::tuple<const wait_site*, const std::string*, wait_kind, bool>;

    // \returns the waits of the group, those closest to the cause first.
    static std::vector<std::size_t> in_order(const wait_graph& graph, const std::vector<std::size_t>& group);

    deadlock_report report_of(const wait_graph& graph, const std::vector<std::size_t>& group,
                              time_point now) const;

    std::map<key, known_wait> known_;
};

// An executor, and since when each of its workers has been on the same task.
class observed_pool {
  public:
    explicit observed_pool(executor& ex) : executor_(&ex, executor_user::watchdog) {}

    bool is(const void* ex) const noexcept { return &*executor_ == ex; }

    // Errors: `std::bad_alloc`; then the view is empty.
    const executor_view& inspect();
    const executor_view& view() const noexcept { return view_; }

    // \returns whether a worker has been held for `limit` or longer while coroutines wait for a worker, now
    //          and at the previous call. False from `set_reported` on until no worker is held.
    bool is_newly_held(time_point now, duration limit);
    void set_reported() noexcept { reported_ = true; }

    stall_report report(const wait_graph& graph, time_point now, duration limit) const;

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

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/wait_reports.ipp>
#endif

#endif
