// weir run: a run without its items: stop, pause, statistics, checkpoints; the run that ends with for_each
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_CONTROL_HPP
#define WEIR_RUN_RUN_CONTROL_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/executor_users.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/owned.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_graph.hpp>

#include <cstddef>      // for std::size_t
#include <optional>     // for std::optional
#include <stdexcept>    // for std::logic_error
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::exchange, std::move
#include <vector>       // for std::vector

namespace weir {

namespace detail {
class progress_recorder;
}

/// The result of `run::wait`, `run::drain` and `co_await run`.
struct run_result {
    /// How many items this call took; for a `run<void>`, how many items its last stage has processed.
    std::uint64_t items = 0;
    pipeline_stats stats;  ///< `run::stats()` when the call returned
};

/// The base of every `run`. A function that takes `weir::run_control<>&` can control any measured run.
///
/// Errors:   those of `run`, such as `std::logic_error` if it was moved from. Threads: any, at any time.
/// Lifetime: that of the run. Cost: none per item.
template <class Policy = measured>
class run_control {
  public:
    run_control(const run_control&) = delete;
    run_control& operator=(const run_control&) = delete;

    /// \returns whether a consumer has seen the end of the stream, or, for a `run<void>`, whether a wait has
    ///          returned, or all stages have ended; true for a run that was moved from.
    [[nodiscard]] bool ended() const noexcept { return core_ == nullptr || core_->has_ended(); }

    /// \returns why the run ends or has ended; `running` as long as nothing has ended the run.
    [[nodiscard]] run_outcome outcome() const { return core().outcome(); }

    /// \returns a record of the draws that consumers have taken. (A `sampler` chooses a draw: an index into
    ///          the data, with its position among the draws of all epochs, the passes over the data.) Another
    ///          run of the same pipeline continues from the record, on any number of machines: see
    ///          `weir::checkpoint`. An item is taken when a consumer has got the item, or when the function
    ///          of a `for_each` has ended. The other run gives all items that were not taken, and no others.
    ///
    /// Which stages allow a checkpoint:
    /// - At any time: `pipe`, `filter`, `retry`, `shuffle`, `route`, `tee`, `for_each`, `sink_to`, of any
    ///   order and number of slots; `aggregate`, `batch_slots`, `split`; `disaggregate` behind `aggregate` or
    ///   behind a `batch_slots` that makes one element of each item, if only `shuffle`, `route`, `tee` and
    ///   `stage_options::elementwise` functions are between them.
    /// - Only when all elements of a batch are taken, or none: `disaggregate` behind another function, a
    ///   `split`, or one of these: a stage with `drop_last`, an `aggregate<Batch>` whose batches are
    ///   no vectors, or an `aggregate` with an aggregator, which is an object of the user.
    /// - Only when all results of a draw are taken, or none: `flat_map`, `traverse`, `pipe` with a generator.
    /// - `aggregate` with an aggregator: only if the aggregator has `keeps_last()`, which tells whether the
    ///   last item that came is not in the batch.
    /// - Never: `take`, `skip`, `cache` (but in a branch of a `tee` they are allowed), several sources, a
    ///   source other than `draws` of a sampler.
    ///
    /// When a consumer has seen the end of an epoch, all results of its draws are taken. An item that a
    /// function dropped, or that failed within the limit, is not given again, unless a stop was requested
    /// before: the function may have given up because of the stop. Whether a function drops an item must
    /// depend on the item alone.
    /// Errors: `std::logic_error` if the run has no checkpoint, or none now; the message says why.
    /// Needs `#include <weir/stages/epochs.hpp>`, so that other programs don't compile it.
    template <class Recorder = detail::progress_recorder>
    [[nodiscard]] auto checkpoint() const {
        constexpr bool known = requires { sizeof(Recorder); };
        static_assert(known,
                      "weir: a checkpoint is of a source that draws from a sampler: "
                      "#include <weir/stages/epochs.hpp>");
        if constexpr (known) return static_cast<const Recorder&>(core().recorder()).checkpoint();
    }

    /// Stops the run: no stage takes another item, the items in the queues are destroyed, and the call blocks
    /// until all running invocations have ended. Several threads may call `stop`: each waits for the end.
    ///
    /// Errors: `std::logic_error` in work of this run, as the call would wait for itself: in a stage's
    ///         function, in coroutines and tasks that the function awaits or waits for, in hooks, callbacks
    ///         and reports. Call `request_stop` there. Two such calls are not recognised, and never return;
    ///         on virtual time they are undefined. One is in a coroutine of another library that a stage's
    ///         function awaits, after its first wait. The other is in an unmeasured run, in a stage's
    ///         coroutine that another library has resumed on a thread of its own.
    void stop() {
        if (core_ == nullptr || core_->orphaned()) return;
        core_->stop();
    }

    /// Stops the run, as `stop`, but does not wait. May be called in work of this run, but not in a signal
    /// handler: see `stop_on_signals`.
    void request_stop() noexcept {
        if (core_ == nullptr || core_->orphaned()) return;
        core_->request_stop();
    }

    /// Pauses the run: a slot (worker of a stage) that has seen the pause begins with no item. So at most one
    /// invocation per slot begins after the call. Running invocations end, and finished items can be taken.
    void pause() { core().pause(true); }
    /// Ends a pause.
    void resume() { core().pause(false); }

    /// \returns the names of the stages, in the order in which items pass.
    [[nodiscard]] std::vector<std::string> stages() const { return core_unless_moved().stage_names(); }

    /// Changes the concurrency of the stage with this name. Added slots begin at once; a removed slot first
    /// finishes its item. Does nothing if the stage has ended.
    ///
    /// Errors: `std::invalid_argument` for 0, for a name of no stage or of several, and for another number of
    ///         slots of a kind of stage that always has one slot, or one for each input (a `merge`);
    ///         `std::bad_alloc`, without a change.
    void set_concurrency(std::string_view stage, std::size_t num_slots) {
        core().set_concurrency(stage, num_slots);
    }

    /// Changes the capacity, in items, of the queue behind the stage, or before the branch, with this name.
    /// Items in the queue are kept, and no item comes in until they are fewer than its new capacity. The
    /// queue of the sink and the queue before it count as one here, with the sum of their capacities.
    /// Errors: `std::invalid_argument` for 0, for a name of no queue or of several, and for the last stage of
    ///         a `run<void>`, which has no queue behind it; `std::bad_alloc`, without a change.
    void set_capacity(std::string_view stage, std::size_t items) { core().set_capacity(stage, items); }

    /// \returns the statistics from the start until now. When `ended()` is true, and all stages have ended,
    ///          the statistics no longer change. Cost: some tens of microseconds, most of them for
    ///          `pipeline_stats::process`; locks one queue or stage at a time, to copy a few counters.
    [[nodiscard]] pipeline_stats stats() const { return core().stats(); }

  private:
    template <class T, class OfRun>
    friend class run;

    explicit run_control(detail::owned<detail::run_core<Policy>> core) noexcept : core_(core.release()) {}
    run_control(run_control&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    run_control& operator=(run_control&& other) noexcept {
        if (this == &other) return *this;
        destroy_core();
        core_ = std::exchange(other.core_, nullptr);
        return *this;
    }
    ~run_control() { destroy_core(); }  // if the constructor of the derived class threw

    // Throws `std::logic_error` if the run was moved from, and `forked_error` in a forked child of the
    // process that has the run's threads.
    detail::run_core<Policy>& core() const {
        detail::run_core<Policy>& core = core_unless_moved();
        core.check_threads();
        return core;
    }

    // Called when a consumer has seen the end of the last queue: the run has ended, and if all workers have
    // ended, too, the statistics no longer change. Throws the failure of the run, if any.
    void end_stream() {
        if (core_->consumer() != nullptr) core_->consumer()->ended();
        core_->mark_ended();
        core_->freeze();
        core_->throw_failure();
    }

    // Called by all destructors, and by the assignment: destroys the core, which owns the coroutines of the
    // run. Leaks the core in a forked child, where coroutines may be at any instruction; and if the process
    // exits inside of a coroutine: other threads may use the run until the process has ended.
    void destroy_core() noexcept {
        if (core_ == nullptr || core_->orphaned()) return;
        if (detail::exits_in_a_coroutine()) {
            core_->pause(true);
            return detail::let_consumers_block();  // waits 10 ms: consumers empty the queues, then block
        }
        delete core_;
        core_ = nullptr;
    }

    // Throws `std::logic_error` if the run was moved from.
    detail::run_core<Policy>& core_unless_moved() const {
        if (core_ != nullptr) return *core_;
        throw std::logic_error(
            "weir: this run was moved from, and holds nothing: use the one that it was moved to");
    }

    detail::run_core<Policy>* core_;  // null: the run was moved from
};

template <class T, class Policy = measured>
class run;

/// The run of a pipeline that ends with `for_each` or `sink_to`. Such a run needs no consumer; its end can be
/// awaited:
///
///     auto all = run.wait();      // a thread
///
///     auto all = co_await run;    // a coroutine
///
/// Both return when the last stage has ended, after the last item, a stop, or a failure; also if called
/// again. `run_result::items` counts the successful calls of the `for_each`'s function. After a failure, a
/// `request_stop` or a `take(n)` stage, earlier stages may still process an item; `stop()` waits for them.
///
/// Ends:     as any run. When all stages have ended, `ended()` is true, `outcome()` is final, and the
///           statistics no longer change, also if no thread waits.
/// Errors:   a failure that stopped the run is thrown as `pipeline_failure`, once, by a wait, or is reported
///           to the `failure_sink`; else those of any run. A wait in a stage of the run: `std::logic_error`.
/// Threads:  any number may wait, threads and coroutines.
/// Lifetime: that of any run. No thread or coroutine may wait when the run is moved or destroyed.
/// Cost:     nothing per item; a wait, that of `channel::get`.
template <class Policy>
class [[nodiscard("destroying the run stops it: keep it, and wait() for its end")]] run<void, Policy>
    : public run_control<Policy> {
    using base = run_control<Policy>;
    using base::core;
    using base::end_stream;
    using queue = channel<detail::no_item, Policy>;

  public:
    ~run() { this->destroy_core(); }
    run(run&&) noexcept = default;
    run& operator=(run&&) noexcept = default;

    /// Blocks the calling thread until the run has ended. If the run's executor has no threads of its own
    /// (virtual time), the calling thread runs the coroutines meanwhile.
    run_result wait() {
        core().refuse_within_run();
        static_cast<void>(core().drive_loops_in([this] { return end_->blocking_get(); }));
        return result();
    }

    /// `co_await run`: `wait` for a coroutine. Suspends: until the run has ended. Resumes: on the coroutine's
    /// executor.
    friend auto operator co_await(run& all) {
        all.core().refuse_within_run();
        return end_operation(all);
    }

    /// Do not compile: there are no items to take.
    template <class Run = run>
    auto get() {
        return refuse<Run, std::optional<int>>();
    }
    template <class Run = run>
    auto next() {
        return refuse<Run, std::optional<int>>();
    }
    template <class Run = run>
    auto drain() {
        return refuse<Run, run_result>();
    }
    template <class Run = run>
    detail::not_an_iterator<int> begin() {
        return refuse<Run, detail::not_an_iterator<int>>();
    }
    detail::not_an_iterator<int> end() const { return {}; }

  private:
    template <class>
    friend class pipeline;

    run(detail::owned<detail::run_core<Policy>> made, queue& end) : base(std::move(made)), end_(&end) {}

    template <class Run, class Result>
    static Result refuse() {
        static_assert(
            std::is_void_v<Run>,
            "weir: this run ends with a for_each, to which all items go: there is none to be taken; "
            "wait() or co_await run for its end, or put weir::sink() in the place of the for_each");
        return {};
    }

    run_result result() {
        end_stream();
        return run_result{core().num_done(), this->stats()};
    }

    class end_operation : public detail::get_operation<queue> {
      public:
        explicit end_operation(run& r) noexcept : detail::get_operation<queue>(*r.end_), run_(&r) {}
        run_result await_resume() {
            static_cast<void>(detail::get_operation<queue>::await_resume());
            return run_->result();
        }

      private:
        run* run_;
    };

    queue* end_;  // never has an item; closed when the last stage has ended
};

}  // namespace weir

#endif
