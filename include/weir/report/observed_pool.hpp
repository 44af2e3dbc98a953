// weir report, internal: an executor as a watchdog sees it, and for how long its workers have been held
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_OBSERVED_POOL_HPP
#define WEIR_REPORT_OBSERVED_POOL_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/report/deadlock_report.hpp>
#include <weir/report/wait_graph.hpp>

#include <algorithm>  // for std::max
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <vector>     // for std::vector

namespace weir::detail {

class observed_pool {
  public:
    explicit observed_pool(executor& ex) : executor_(&ex, executor_user::watchdog) {}

    bool is(const void* ex) const noexcept { return &*executor_ == ex; }

    // May throw std::bad_alloc; then nothing is known of it.
    const executor_view& inspect() {
        view_ = {};
        executor_->inspect(view_);
        return view_;
    }
    const executor_view& view() const noexcept { return view_; }

    // By the view at hand: whether somebody waits for a worker, as when this was asked before, while a worker
    // has been held for `limit` or longer. False from `set_reported` until no worker is held any more.
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
        time_point since{};  // has it been at that
    };

    executor_use executor_;
    executor_view view_;
    std::vector<worker> workers_;
    bool was_crowded_ = false;
    bool reported_ = false;
};

}  // namespace weir::detail

#endif
