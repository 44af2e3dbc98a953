// weir run: what a run is told and asked, whatever its items are
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_CONTROL_HPP
#define WEIR_RUN_RUN_CONTROL_HPP

#include <weir/executor/executor_users.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_core.hpp>

#include <cstddef>      // for std::size_t
#include <memory>       // for std::unique_ptr
#include <stdexcept>    // for std::logic_error
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::exchange
#include <vector>       // for std::vector

namespace weir {

namespace detail {
class progress_keeper;
}

/// What `run::wait` and `run::drain` return, and `co_await run`.
struct run_result {
    /// How many items came to the end: were taken by that call, or acted on by the `for_each`.
    std::uint64_t items = 0;
    pipeline_stats stats;  ///< as `run::stats()` has them then
};

/// The base of every `run`: what it is told and asked whatever its items are. A function that takes
/// `weir::run_control<>&` steers any run that is measured.
///
/// Errors:   those of `run`. Threads: any, at any time. Lifetime: that of the run.
/// Cost:     what goes by without it pays nothing.
template <class Policy = measured>
class run_control {
  public:
    run_control(const run_control&) = delete;
    run_control& operator=(const run_control&) = delete;

    /// \returns whether a consumer has seen the end of the stream, or, where a `for_each` takes the place of
    ///          one, whether all stages have ended; true of a run that was moved from.
    [[nodiscard]] bool ended() const noexcept { return core_ == nullptr || core_->has_ended(); }

    /// \returns what has ended it, or that nothing has.
    [[nodiscard]] run_outcome outcome() const { return core().outcome(); }

    /// What the consumers have taken until now, to go on from there in another run, on any number of
    /// machines: see `checkpoint`. An item counts when `next` or `get` has returned it, all of it at once.
    /// A run of the same pipeline that goes on from there gives every item that was not taken, and no other.
    ///
    /// - At any time: with `pipe`, `filter`, `retry`, `shuffle`, `route`, `tee`, `for_each`, of any order and
    ///   any number of slots; with `aggregate` and `split`; with `disaggregate` of what `aggregate` made, if
    ///   between them is nothing but `shuffle`, `route`, `tee`, and `stage_options::elementwise` functions.
    /// - Only when a batch is taken whole, or nothing of it: with `disaggregate` behind another function or a
    ///   `split`, or an `aggregate` with `drop_last`, an aggregator of one's own, or a type of batch.
    /// - Only when all that was made of a draw is taken, or nothing: with `flat_map`, a `pipe`'s generator.
    /// - If it has `keeps_last()`: with an aggregator of one's own.
    /// - Never: with `take`, `skip`, `cache`, several sources, or one that is no `draws` of a sampler. The
    ///   side of a `tee` may have each of the first three.
    ///
    /// Where an epoch has ended for the consumer, all that was made of its draws is taken. An item that a
    /// function dropped, or failed where that is tolerated, is not given again, unless a stop was asked for
    /// before: the function may have given up because of that. Functions have to decide by the item alone.
    /// Errors: `std::logic_error` if there is none, with what stands in the way.
    /// Takes `<weir/stages/epochs.hpp>`, which has such sources: no other program compiles what it needs.
    template <class Keeper = detail::progress_keeper>
    [[nodiscard]] auto checkpoint() const {
        constexpr bool known = requires { sizeof(Keeper); };
        static_assert(known,
                      "weir: a checkpoint is of a source that draws from a sampler: "
                      "#include <weir/stages/epochs.hpp>");
        if constexpr (known) return static_cast<const Keeper&>(core().keeper()).checkpoint();
    }

    /// Stops: no stage takes another item, what is in the queues is destroyed, and the call blocks
    /// until all invocations under way have ended. Doing it again does nothing.
    ///
    /// Errors: `std::logic_error` in work of this run, which would wait for itself: in a stage's function and
    ///         what it awaits, its groups' tasks and what it waits for by `sync_wait`, in hooks, callbacks
    ///         and reports. `request_stop` is for those. A coroutine of another library that such a function
    ///         awaits is not recognised once it has waited: there this never returns, and on virtual time it
    ///         must not be called. Nor is, where nothing is measured, what another library has resumed on a
    ///         thread of its own.
    void stop() {
        if (core_ == nullptr || core_->orphaned()) return;
        core_->stop();
    }

    /// The same without waiting, from anywhere: from a stage of this run, too; but not in a signal handler,
    /// for which there is `stop_on_signals`.
    void request_stop() noexcept {
        if (core_ == nullptr || core_->orphaned()) return;
        core_->request_stop();
    }

    /// No slot begins with another item once it has seen the pause: in each at most one invocation begins
    /// after this has returned, of an item for which it had looked before. Those under way end, and what is
    /// finished can still be taken.
    void pause() { core().pause(true); }
    /// Ends a pause.
    void resume() { core().pause(false); }

    /// The names of its stages, in the order in which items pass.
    [[nodiscard]] std::vector<std::string> stages() const { return known_core().stage_names(); }

    /// Changes how many items the stage of that name works on at the same time. More slots begin at once;
    /// a slot too many ends with the item that it has in hand. In a stage that has ended, nothing happens.
    ///
    /// Errors: `std::invalid_argument` for 0, for a name that no stage has or several have, and for a
    ///         stage that has one slot by its nature; `std::bad_alloc`, without a change.
    void set_concurrency(std::string_view stage, std::size_t num_slots) {
        core().set_concurrency(stage, num_slots);
    }

    /// Changes the capacity, in items, of the queue behind the stage of that name. With less, nothing is
    /// lost: what is inside stays. Errors: as above, and `std::bad_alloc`, without a change.
    void set_capacity(std::string_view stage, std::size_t items) { core().set_capacity(stage, items); }

    /// What was measured from the start until now; after the end of the stream, until then, or until the last
    /// stage has ended, which after a failure may be later. Cost: some tens
    /// of microseconds, most of them the system's for `pipeline_stats::process`; each queue and stage is
    /// locked for the time of copying a few counters, none while another is.
    [[nodiscard]] pipeline_stats stats() const { return core().stats(); }

  private:
    template <class T, class OfRun>
    friend class run;

    explicit run_control(std::unique_ptr<detail::run_core<Policy>> core) noexcept : core_(core.release()) {}
    run_control(run_control&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    run_control& operator=(run_control&& other) noexcept {
        if (this == &other) return *this;
        destroy_core();
        core_ = std::exchange(other.core_, nullptr);
        return *this;
    }
    ~run_control() { destroy_core(); }  // where the rest of the run could not be made

    // For all that looks at more than the run's own thread does.
    detail::run_core<Policy>& core() const {
        detail::run_core<Policy>& core = known_core();
        core.check_threads();
        return core;
    }

    // A consumer has found the last queue at its end.
    void end_stream() {
        core_->mark_ended();
        core_->freeze();
        core_->throw_failure();
    }

    // Before the rest of the run goes. Of another process the core stays as it is: coroutines in it may be
    // half-way through an instruction. It stays, too, where this process ends on top of a coroutine: other
    // threads may use the run until the very end.
    void destroy_core() noexcept {
        if (core_ == nullptr || core_->orphaned()) return;
        if (detail::exits_in_a_coroutine()) {
            core_->pause(true);
            return detail::let_consumers_block();
        }
        delete core_;
        core_ = nullptr;
    }

    detail::run_core<Policy>& known_core() const {
        if (core_ != nullptr) return *core_;
        throw std::logic_error(
            "weir: this run was moved from, and holds nothing: use the one that it was moved to");
    }

    detail::run_core<Policy>* core_;
};

}  // namespace weir

#endif
