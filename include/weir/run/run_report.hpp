// weir run: what hears of a run while it goes on, and writes it down or shows it
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

/// Hears of one run at a time: `run_options::reports`. Override what is of interest.
///
///     const auto laps = std::make_shared<lap_printer>();
///     auto run = loader.start(pool, {.lap = 1s, .reports = {laps}});
///
/// Errors:  of an exception from any of these the `report_warning` is told, and the report hears no more of
///          this run, which goes on.
/// Threads: `failed` is called by the stages', several at once; `begins` by the one that starts the run; the
///          others by one of the executor's, one after the other.
class run_report {
  public:
    run_report() = default;
    run_report(const run_report&) = delete;
    run_report& operator=(const run_report&) = delete;
    virtual ~run_report() = default;

    /// \returns what a warning calls it: `run.csv`.
    [[nodiscard]] virtual std::string name() const { return "a report"; }

    /// A run is about to begin. `all`: its stages and queues, of which nothing is measured yet.
    virtual void begins(const pipeline_stats& all) { static_cast<void>(all); }
    /// A lap has ended: see `run_options::on_lap`.
    virtual void lap(const pipeline_stats& one) { static_cast<void>(one); }
    /// An item has failed: see `run_options::on_failure`.
    virtual void failed(const failure& what) { static_cast<void>(what); }
    /// The run has ended: see `run_options::on_end`. `rest`: the lap that wasn't whole.
    virtual void ends(const pipeline_stats& rest, const pipeline_stats& all) {
        static_cast<void>(rest);
        static_cast<void>(all);
    }
    /// Asked before `begins`.
    /// \returns what is to be called around every invocation; null: nothing, which costs nothing.
    [[nodiscard]] virtual std::shared_ptr<hook> around_invocations() { return nullptr; }

  private:
    friend class detail::run_reports;
    // Asked after that. What is told of some of the items, if they are to be followed; null: none is.
    virtual std::shared_ptr<detail::run_trail> follows_items() { return nullptr; }
};

/// Told of a report that gave up, while its run goes on: which, and why.
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
    // Not by C's stderr: if that is a pipe that nobody reads any more, its signal would end the program.
    if (size > 0) static_cast<void>(write_whole(2, {line, static_cast<std::size_t>(size)}));
}

inline constinit standard_platform::atomic<report_warning> the_report_warning{&print_report_warning};

// Those of a run, each until it fails.
class run_reports {
    struct one {
        explicit one(std::shared_ptr<run_report> r) : report(std::move(r)) {}
        std::shared_ptr<run_report> report;
        standard_platform::atomic<bool> abandon{false};
    };

  public:
    // Their hooks are called inside of those that are there.
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
            // relaxed: one that has just failed may hear of one more failure
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
        if (it.abandon.exchange(true, std::memory_order_relaxed)) return;  // relaxed: who is first warns
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

/// Sets it for all runs of the process; the one that is there from the beginning prints a line on stderr.
/// With null nobody is told.
/// \returns the one before. Threads: any.
inline report_warning set_report_warning(report_warning warn) noexcept {
    // acq_rel; pairs with itself and with who tells it: what was written before it was set is seen
    return detail::the_report_warning.exchange(warn, std::memory_order_acq_rel);
}

}  // namespace weir

#endif
