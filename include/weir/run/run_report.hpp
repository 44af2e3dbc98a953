// weir run: the interfaces by which reports, watchdogs and profilers see a run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_REPORT_HPP
#define WEIR_RUN_RUN_REPORT_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system_files.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::shared_ptr
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

namespace detail {

// The state of a slot (worker of a stage), for a watchdog, which searches the waits of a run for a deadlock,
// and for `explain_all_runs`.
struct slot_seen {
    const slot* who = nullptr;
    bool gone = false;  // the slot has ended; the stage's outputs are closed before its last slot is gone
    // `off` if the run doesn't measure, or `watched_run::inspect` was called without `states`.
    slot_state state = slot_state::off;
    std::int64_t since = 0;  // when the slot entered `state`, in ns of the run's clock
};

// A stage of a run as a watchdog sees it.
struct stage_seen {
    std::vector<const wait_site*> from;  // the queues from which the stage takes
    std::vector<const wait_site*> to;    // the queues into which the stage puts
    std::vector<slot_seen> per_slot;
};

// A run as a watchdog sees it: the result of `watched_run::inspect`.
struct run_seen {
    std::vector<stage_seen> stages;
    const wait_site* last = nullptr;  // the consumer's queue; in a `run<void>`, the one closed at the end
    bool has_failed = false;
    bool has_ended = false;    // all stages have ended, and the outcome of the run is known
    bool is_measured = false;  // else the states of its slots are not known
};

// A run that has begun. Unless the run is on virtual time (a simulated clock), it is in the registry of the
// process, in which watchdogs find the runs, from the start until before its stages are destroyed.
class watched_run : public registered {
  public:
    static constexpr registry_kind registered_as = registry_kind::run;

    // `states`: also sets `slot_seen::state`, which takes a lock for each slot.
    virtual void inspect(run_seen& seen, bool states) const = 0;
    // The statistics from the start until now, or until the end of the run.
    virtual pipeline_stats stats() const = 0;

  protected:
    watched_run() noexcept : registered(registry_kind::run) {}
    ~watched_run() = default;
};

// Whether the slots of a stage work.
struct stage_activity {
    bool is_idle;        // every slot waits for an item, for room or for its turn, or is `off` (not at work)
    bool is_starved;     // a slot waits for an item
    std::int64_t since;  // when a slot last changed its state; in ns of the run's clock
};

// Figures of a stage since the start of the run. Figures of queues are sums over all queues of the stage.
struct stage_figures {
    std::size_t num_inputs = 0;
    std::size_t num_slots = 0;
    std::uint64_t given = 0;    // items put into the queues before the stage
    std::uint64_t taken = 0;    // items got from these queues
    std::uint64_t results = 0;  // put into the queues behind, or waiting there for an earlier item's result
    std::uint64_t num_tasks = 0;
    std::uint64_t num_failures = 0;
    duration task_time{};  // of successful tasks
    duration starved{};    // time in which at least one slot waited for an item of a queue before the stage
    slot_times times;
};

// A run whose stages are profiled: tried one by one, before all work together. `stage` is an index into
// `pipeline_stats::stages`. A stage begins with no item before `admit`; after the profile all stages work.
class profiled_run {
  public:
    virtual time_point current_time() const = 0;
    virtual const std::string& name_of(std::size_t stage) const noexcept = 0;
    virtual const char* kind_of(std::size_t stage) const noexcept = 0;
    // Whether the run was stopped, or has failed: further figures then say nothing about its stages.
    virtual bool was_interrupted() const = 0;
    // Whether the run is paused by `run_control::pause`, and was not stopped.
    virtual bool is_halted() const noexcept = 0;
    virtual std::size_t num_stages() const noexcept = 0;
    // Whether the stage may be tried with several numbers of slots: see `profiled_graph`.
    virtual bool can_change_slots(std::size_t stage) const noexcept = 0;
    // The limit of slots in a trial: with more, functions that never suspend could block all threads of the
    // stage's executor.
    virtual std::size_t max_slots(std::size_t stage) const = 0;
    virtual stage_activity activity(std::size_t stage) const = 0;
    virtual stage_figures figures(std::size_t stage) const = 0;
    virtual void set_slots(std::size_t stage, std::size_t num_slots) = 0;
    // Sets the number of slots to the concurrency that the pipeline describes, unless the program has changed
    // the concurrency since `set_slots`.
    virtual void reset_slots(std::size_t stage) = 0;
    // Makes room for `items` more items in each queue behind the stage.
    virtual void add_capacity(std::size_t stage, std::size_t items) = 0;
    // Lets the stage begin with `items` items from now on, and no more; an earlier call no longer counts.
    virtual void admit(std::size_t stage, std::size_t items) noexcept = 0;
    // How many items the stage has begun with since `admit`, and how fast.
    virtual pace_meter meter(std::size_t stage) const noexcept = 0;
    // Requests a stop of the run, and does not wait for its end.
    virtual void end() noexcept = 0;

  protected:
    ~profiled_run() = default;
};

// Decides the steps of a profile. Called on a thread of the run's executor.
class run_profiler {
  public:
    virtual ~run_profiler() = default;
    // Does the next step. Returns when to call `step` again; nothing: the profile is complete.
    virtual std::optional<time_point> step(profiled_run& run) = 0;
    // Publishes the result. Then the run continues.
    virtual void finish(profiled_run& run) = 0;
    // Called if `step` or `finish` threw: reports the error. Then the run continues without a profile.
    virtual void abandon(profiled_run& run, std::exception_ptr error) noexcept = 0;
    // Whether `conclude` is to be called. Asked after `finish` or `abandon`.
    virtual bool has_conclusion() const noexcept { return false; }
    // Called when all stages have ended: gives a conclusion from `rest`, the statistics since a time after
    // the profile at which no queue held more items than its capacity.
    virtual void conclude(const pipeline_stats& rest) { static_cast<void>(rest); }
};

class run_reports;

}  // namespace detail

/// The base of reports: `run_options::reports`. A report is of one run at a time. Override some functions.
///
///     const auto laps = std::make_shared<lap_printer>();
///     auto run = loader.start(pool, {.lap = 1s, .reports = {laps}});
///
/// Errors:  after an exception from a function, the `report_warning` is called, and no more functions of this
///          report. The run continues, and still calls the hook that `around_invocations` returned.
/// Threads: `around_invocations`, `begins`: the thread that starts the run; `failed`: the stages' threads or
///          a consumer's (`run_options::consumers_help`), several at once; `lap`, `ends`: the executor's
///          threads or a consumer's, one call after the other; `name`: any.
class run_report {
  public:
    run_report() = default;
    run_report(const run_report&) = delete;
    run_report& operator=(const run_report&) = delete;
    virtual ~run_report() = default;

    /// \returns the name of the report in warnings: `run.csv`.
    [[nodiscard]] virtual std::string name() const { return "a report"; }

    /// Called before the run begins. `all`: the stages and queues of the run, with figures of 0.
    virtual void begins(const pipeline_stats& all) { static_cast<void>(all); }
    /// Called at the end of a lap (an interval of length `run_options::lap`), with its statistics.
    virtual void lap(const pipeline_stats& one) { static_cast<void>(one); }
    /// Called for every item that failed, within the limit or not: see `run_options::on_failure`.
    virtual void failed(const failure& f) { static_cast<void>(f); }
    /// Called when all stages have ended: see `run_options::on_end`. `rest`: the statistics since the last
    /// call of `lap`. `all`: the statistics of the whole run.
    WEIR_INLINE virtual void ends(const pipeline_stats& rest, const pipeline_stats& all);
    /// Called before `begins`.
    /// \returns a hook that is called around every invocation; null: the report needs no hook.
    [[nodiscard]] virtual std::shared_ptr<hook> around_invocations() { return nullptr; }

  private:
    friend class detail::run_reports;
    // Called after `around_invocations`. Returns the object that records the trace of some items of the run;
    // null: the report needs no trace.
    virtual std::shared_ptr<detail::run_trail> follows_items() { return nullptr; }
    // Called before `ends`: tells the report why the run has ended. `how`: `running` if all work is done, and
    // the consumer has not seen the end yet. `stage`: `failure::stage` of the failure that ended the run;
    // empty without one.
    virtual void ended_by(run_outcome how, const std::string& stage) {
        static_cast<void>(how);
        static_cast<void>(stage);
    }
};

/// Called when a report fails, with the report's name and the text of the exception. The run continues.
using report_warning = void (*)(std::string_view report, std::string_view why) noexcept;

namespace detail {

// The default: prints the line on stderr.
void print_report_warning(std::string_view report, std::string_view why) noexcept;

// The function of `set_report_warning`.
inline constinit standard_platform::atomic<report_warning> the_report_warning{&print_report_warning};

// The reports of one run. After an exception from a report, the report is no longer called.
class run_reports {
    struct entry {
        explicit entry(std::shared_ptr<run_report> r) : report(std::move(r)) {}
        std::shared_ptr<run_report> report;
        standard_platform::atomic<bool> has_failed{false};
    };

  public:
    // Appends the hooks that the reports return (`run_report::around_invocations`) to `hooks`.
    run_reports(std::vector<std::shared_ptr<run_report>> all, std::vector<shared_hook>& hooks);

    // Null: no report needs a trace.
    run_trail* trail() const noexcept { return trail_.get(); }

    bool empty() const noexcept { return all_.empty(); }

    void end_by(run_outcome how, const std::string& stage) noexcept {
        call_each([&](run_report& r) { r.ended_by(how, stage); });
    }

    // Calls the function with each report that has not failed.
    template <class Call>
    void call_each(Call call) noexcept {
        for (const auto& each : all_) {
            // relaxed: another thread may still call a report that has just failed
            if (each->has_failed.load(std::memory_order_relaxed)) continue;
            try {
                call(*each->report);
            } catch (...) {
                abandon(*each, std::current_exception());
            }
        }
    }

  private:
    // Calls the report no more, and warns.
    static void abandon(entry& it, const std::exception_ptr& why) noexcept;

    std::vector<owned<entry>> all_;
    std::shared_ptr<run_trail> trail_;  // from the one report that follows items; null: none does
};

}  // namespace detail

/// Sets the function that is called when a report of any run fails. The default prints a line on stderr.
/// \param warn  null: no function is called.
/// \returns the previous function. Threads: any.
report_warning set_report_warning(report_warning warn) noexcept;

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/run_report.ipp>
#endif

#endif
