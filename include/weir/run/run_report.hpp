// weir run: the interface of reports, which write down or show a run while it works
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_REPORT_HPP
#define WEIR_RUN_RUN_REPORT_HPP

#include <weir/measure/stats.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system_files.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>

#include <exception>    // for std::exception_ptr
#include <memory>       // for std::shared_ptr
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

namespace detail {
class run_reports;
}

/// The base of reports: `run_options::reports`. A report is of one run at a time. Override some functions.
///
///     const auto laps = std::make_shared<lap_printer>();
///     auto run = loader.start(pool, {.lap = 1s, .reports = {laps}});
///
/// Errors:  after an exception from a function, the `report_warning` is called, and no more functions of this
///          report; the run continues.
/// Threads: `failed`: the stages' threads, several at once; `begins`: the thread that starts the run; others:
///          the executor's threads, one call after the other.
class run_report {
  public:
    run_report() = default;
    run_report(const run_report&) = delete;
    run_report& operator=(const run_report&) = delete;
    virtual ~run_report() = default;

    /// \returns the name of the report in warnings: `run.csv`.
    [[nodiscard]] virtual std::string name() const { return "a report"; }

    /// Called before the run begins. `all`: its stages and queues, with figures of 0.
    virtual void begins(const pipeline_stats& all) { static_cast<void>(all); }
    /// Called at the end of a lap: see `run_options::on_lap`.
    virtual void lap(const pipeline_stats& one) { static_cast<void>(one); }
    /// Called for an item that failed: see `run_options::on_failure`.
    virtual void failed(const failure& what) { static_cast<void>(what); }
    /// Called at the end of the run: see `run_options::on_end`. `rest`: the last, shorter lap.
    virtual void ends(const pipeline_stats& rest, const pipeline_stats& all);
    /// Called before `begins`.
    /// \returns a hook that is called around every invocation; null: none.
    [[nodiscard]] virtual std::shared_ptr<hook> around_invocations() { return nullptr; }

  private:
    friend class detail::run_reports;
    // Called after `around_invocations`. Returns a trace of some items; null: none.
    virtual std::shared_ptr<detail::run_trail> follows_items() { return nullptr; }
};

/// Called when a report fails, with its name and the text of the exception. The run continues.
using report_warning = void (*)(std::string_view report, std::string_view why) noexcept;

namespace detail {

void print_report_warning(std::string_view report, std::string_view why) noexcept;

inline constinit standard_platform::atomic<report_warning> the_report_warning{&print_report_warning};

// The reports of one run. After an exception from a report, the report is no longer called.
class run_reports {
    struct one {
        explicit one(std::shared_ptr<run_report> r) : report(std::move(r)) {}
        std::shared_ptr<run_report> report;
        standard_platform::atomic<bool> abandon{false};
    };

  public:
    // The hooks of reports are appended to `hooks`.
    run_reports(std::vector<std::shared_ptr<run_report>> all, std::vector<shared_hook>& hooks);

    run_trail* trail() const noexcept { return trail_.get(); }

    bool empty() const noexcept { return all_.empty(); }

    template <class Call>
    void tell(Call call) noexcept {
        for (const auto& each : all_) {
            // relaxed: a report that has just failed may be called for one more failure
            if (each->abandon.load(std::memory_order_relaxed)) continue;
            try {
                call(*each->report);
            } catch (...) {
                give_up(*each, std::current_exception());
            }
        }
    }

  private:
    static void give_up(one& it, const std::exception_ptr& why) noexcept;

    std::vector<std::unique_ptr<one>> all_;
    std::shared_ptr<run_trail> trail_;
};

}  // namespace detail

/// Sets the warning of all runs of the process. The default prints a line on stderr; null is none.
/// \returns the previous warning. Threads: any.
report_warning set_report_warning(report_warning warn) noexcept;

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/run_report.ipp>
#endif

#endif
