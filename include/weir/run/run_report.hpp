// weir run: the interface of reports, which write down or show a run while it works
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_REPORT_HPP
#define WEIR_RUN_RUN_REPORT_HPP

#include <weir/measure/stats.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system_output.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>

#include <cstddef>      // for std::size_t
#include <cstdio>       // for std::snprintf
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::shared_ptr
#include <stdexcept>    // for std::invalid_argument
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
/// Threads: `failed`: those of the stages, several at once; `begins`: the one that starts the run; others:
///          those of the executor, one call after the other.
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
    /// Called at the end of the run: see `run_options::on_end`. `rest`: the lap that was not whole.
    virtual void ends(const pipeline_stats& rest, const pipeline_stats& all) {
        static_cast<void>(rest);
        static_cast<void>(all);
    }
    /// Called before `begins`.
    /// \returns a hook that is called around every invocation; null: none.
    [[nodiscard]] virtual std::shared_ptr<hook> around_invocations() { return nullptr; }

  private:
    friend class detail::run_reports;
    // Called after that. Returns a trace of some items; null: none.
    virtual std::shared_ptr<detail::run_trail> follows_items() { return nullptr; }
};

/// Called when a report fails, with its name and the text of the exception. The run continues.
using report_warning = void (*)(std::string_view report, std::string_view why) noexcept;

namespace detail {

inline void print_report_warning(std::string_view report, std::string_view why) noexcept {
    char line[1000];
    const auto most = [](std::string_view text) {
        return static_cast<int>(smaller<std::size_t>(text.size(), 400));
    };
    // NOLINTBEGIN(bugprone-suspicious-stringview-data-usage): the sizes are given
    const int size = std::snprintf(line, sizeof line,
                                   "weir: %.*s is no longer written, as this failed: %.*s; the run goes on\n",
                                   most(report), report.data(), most(why), why.data());
    // NOLINTEND(bugprone-suspicious-stringview-data-usage)
    // Not by stderr: if it is a closed pipe, SIGPIPE would end the program.
    if (size > 0) static_cast<void>(write_whole(2, {line, static_cast<std::size_t>(size)}));
}

inline constinit standard_platform::atomic<report_warning> the_report_warning{&print_report_warning};

// The reports of a run.
class run_reports {
    struct one {
        explicit one(std::shared_ptr<run_report> r) : report(std::move(r)) {}
        std::shared_ptr<run_report> report;
        standard_platform::atomic<bool> abandon{false};
    };

  public:
    // The hooks of reports are appended to `hooks`.
    run_reports(std::vector<std::shared_ptr<run_report>> all, std::vector<shared_hook>& hooks) {
        for (auto& each : all) {
            if (each == nullptr) throw std::invalid_argument("weir: a report of a run is null");
            all_.push_back(std::make_unique<one>(std::move(each)));
        }
        tell([&hooks](run_report& r) {
            if (auto around = r.around_invocations()) hooks.emplace_back(std::move(around));
        });
        tell([this](run_report& r) {
            auto follows = r.follows_items();
            if (follows == nullptr) return;
            if (trail_ != nullptr) throw std::invalid_argument("weir: another one follows this run's items");
            trail_ = std::move(follows);
        });
    }

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
    static void give_up(one& it, const std::exception_ptr& why) noexcept {
        if (it.abandon.exchange(true, std::memory_order_relaxed)) return;  // relaxed: only the first warns
        // acquire; pairs with set_report_warning()
        const report_warning warn = the_report_warning.load(std::memory_order_acquire);
        if (warn == nullptr) return;
        try {
            warn(it.report->name(), detail::error_text(why));
        } catch (...) {
            warn("a report", "memory lacks to say what");
        }
    }

    std::vector<std::unique_ptr<one>> all_;
    std::shared_ptr<run_trail> trail_;
};

}  // namespace detail

/// Sets the warning of all runs of the process. The default prints a line on stderr; null is none.
/// \returns the one before. Threads: any.
inline report_warning set_report_warning(report_warning warn) noexcept {
    // acq_rel; pairs with itself and with give_up(), which sees all that was written before
    return detail::the_report_warning.exchange(warn, std::memory_order_acq_rel);
}

}  // namespace weir

#endif
