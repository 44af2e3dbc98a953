// weir run: a started pipeline, from which consumers take items
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_HPP
#define WEIR_RUN_RUN_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/platform/owned.hpp>
#include <weir/run/epoch_range.hpp>
#include <weir/run/run_control.hpp>
#include <weir/run/run_core.hpp>
#include <weir/task/task.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstdint>      // for std::uint64_t
#include <iterator>     // for std::default_sentinel
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_object_v
#include <utility>      // for std::move

namespace weir {

/// A started pipeline, made by `pipeline::start`. Consumers take its items:
///
///     for (auto& batch : run) train(batch);                  // a thread
///     while (auto batch = co_await run.next()) train(*batch);  // a coroutine
///
/// If the pipeline ends with `for_each` or `sink_to`, see `run<void>`.
///
/// Ends:     when the source has ended and all items were taken; when `stop` is called or the run is
///           destroyed; when the stop token of its options is stopped; or by a failure.
/// Errors:   a failure that stopped the run is thrown as `pipeline_failure`, once, in place of the next item,
///           after all results that were finished before the failure. One of several consumers gets the
///           exception; the others see the end. A stop before the failure, also by `on_failure`, makes the
///           `outcome` that of a stop, and the failure is thrown all the same. If memory lacks for the
///           exception, the call throws `std::bad_alloc`, and the next call throws the failure.
///           `deadlock_error` from blocking calls on virtual time (a simulated clock), if no coroutine can
///           continue.
///           `forked_error` in a forked child of the process that has the run's threads; `stop`,
///           `request_stop` and the destructor do nothing there. `std::logic_error` if the run was moved
///           from, except from `stop` and noexcept functions, which do nothing then. The destructor calls the
///           `failure_sink` (by default, it prints a line) for a failure that was not thrown.
/// Threads:  any number of consumers; each item goes to one of them. All other functions at any time, from
///           any thread, except that only one thread may move or destroy the run, or iterate over `epochs`.
/// Lifetime: the destructor stops the run and blocks until all of its coroutines have ended: as long as the
///           longest running invocation. Sleeps, channel operations and Asio operations that a stage's
///           function awaits end at once, with `stopped`. In a stage's function, a hook or a callback of
///           the run itself, where `stop` would throw, the destructor and the assignment print the message
///           and abort. The executors, and the objects that stages refer to, outlive the run. No consumer may
///           wait when the run is moved or destroyed: if runs take from each other, stop all of them first.
/// Cost:     per item, that of `channel::get`; one more coroutine if the source has epochs.
///
/// \tparam T  the item type of the last queue: with epochs, a wrapper of the item.
template <class T, class Policy>
class [[nodiscard("destroying the run stops it: keep it, and take its items")]] run
    : public run_control<detail::checked_policy_t<Policy>> {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                  "weir: a run gives objects, which move out of it: neither references nor constants");

    using policy = detail::checked_policy_t<Policy>;
    using base = run_control<policy>;
    using base::core;
    using base::end_stream;
    using queue = channel<T, policy>;
    using item_traits = detail::epoch_item_traits<T>;

  public:
    using value_type = detail::carried_value_t<T>;
    /// An input iterator; `*` is the item taken last. Lifetime: no longer than the run.
    using iterator = detail::item_iterator<run>;

    // Destroys the `run_core`, and with it the queues and coroutines of the run, before the other members.
    ~run() { this->destroy_core(); }
    run(run&&) noexcept = default;
    run& operator=(run&&) noexcept = default;

    /// Takes the next item, for a coroutine.
    ///
    /// \returns  awaitable of `optional<value_type>`: empty at the end of the stream.
    /// Suspends: while no item is there. Resumes: on the coroutine's executor.
    [[nodiscard("co_await this, or nothing is got")]] auto next() {
        detail::consumer_sampler* const times = core().consumer();
        if constexpr (detail::is_epoch_item<T>) {
            return next_of_epochs(true, times);
        } else {
            return next_operation(*this, times);
        }
    }

    /// Takes the next item, for a thread, which blocks while there is none. If the run's executor has no
    /// threads of its own (virtual time), the calling thread runs the coroutines meanwhile. The thread also
    /// runs stages whose `stage_options::executor` is a loop that this thread runs, such as a `run_loop`.
    /// \returns an item; nothing at the end of the stream.
    [[nodiscard]] std::optional<value_type> get() {
        while (true) {
            get_result<T> got = take();
            if (!got) end_stream();
            if (!got) return std::nullopt;
            if (!item_traits::is_mark(*got)) return deliver(*got);
        }
    }

    /// Takes the next item, as `get()` does, but waits at most for `max_wait`.
    /// \returns an item, `timed_out`, or `closed` at the end. A time-out loses no item.
    [[nodiscard]] get_result<value_type> get(duration max_wait) {
        const time_point begin = detail::is_epoch_item<T> ? core().main_executor().now() : time_point();
        duration left = max_wait;
        for (bool is_late = false; true; is_late = left <= duration(0)) {
            get_result<T> got = take(left);
            if (got.status() == channel_status::closed) end_stream();
            if (!got) return get_result<value_type>(std::nullopt, got.status());
            if (!item_traits::is_mark(*got)) return get_result<value_type>(deliver(*got));
            // A source may give marks for ever. One mark may hide an item that is there.
            if (is_late) return get_result<value_type>(std::nullopt, channel_status::timed_out);
            if (max_wait != (duration::max)()) left = max_wait - (core().main_executor().now() - begin);
        }
    }

    /// The run is an input range of its items, for a thread: `begin` and `++` block while there is no item. A
    /// later loop begins with the first item that was not taken.
    [[nodiscard]] iterator begin() { return iterator(*this); }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

    /// Takes and destroys all items that are left, for a thread, which blocks until the end of the stream.
    /// `for_each` at the end of the pipeline is better if only the stages matter.
    ///
    /// \returns how many items this call took, and the statistics.
    /// Errors:  `std::logic_error` in a stage's function, a hook, a callback or a report of this run, as the
    ///          call would wait for itself.
    run_result drain() {
        core().refuse_within_run();
        std::uint64_t items = 0;
        while (get()) ++items;
        return run_result{items, this->stats()};
    }

    /// `co_await run`: `drain` for a coroutine. Suspends: until the end. Resumes: on the executor of the
    /// coroutine.
    friend auto operator co_await(run& all) {
        all.core().refuse_within_run();
        return drain_operation(all.drain_task());
    }

    /// Does not compile: `run<void>` has `wait`.
    template <class Item = T>
    run_result wait() {
        static_assert(
            std::is_void_v<Item>,
            "weir: this run ends when its items have been taken, and to wait takes none: drain() takes "
            "and destroys all; or end the pipeline with weir::for_each(f), and wait()");
        return {};
    }

    /// Takes the next item of the current epoch (pass of the source over its data), for a coroutine, if the
    /// source has epochs. One of the consumers sees each end of an epoch, once.
    ///
    /// \returns an item; nothing at the end of the epoch, or at the end of the stream. `ended()` is true only
    ///          after the end of the stream.
    /// Suspends: while nothing is there. Resumes: on the coroutine's executor.
    template <class Item = T>
    [[nodiscard(
        "co_await this, or nothing is got")]] detail::with_epochs_t<Item, task<std::optional<value_type>>>
    next_in_epoch() {
        return next_of_epochs(false, core().consumer());
    }
    /// `next_in_epoch` for a thread, which blocks.
    template <class Item = T>
    [[nodiscard]] detail::with_epochs_t<Item, std::optional<value_type>> get_in_epoch() {
        get_result<T> got = take();
        if (!got) end_stream();
        if (!got || item_traits::is_mark(*got)) return std::nullopt;
        return deliver(*got);
    }

    /// \returns an input range of epochs, each an input range of its items, for one thread:
    ///
    ///     for (auto& epoch : run.epochs())
    ///         for (auto& batch : epoch) train(batch, epoch.number());
    ///
    /// The outer loop takes and drops the items of an epoch that the inner loop has not taken. A later call
    /// of `epochs` continues in the current epoch.
    template <class Item = T>
    [[nodiscard]] detail::with_epochs_t<Item, epoch_range<run>> epochs() {
        return epoch_range<run>(*this);
    }

  private:
    template <class>
    friend class pipeline;
    template <class>
    friend class epoch_range;

    run(detail::owned<detail::run_core<policy>> made, queue& out) : base(std::move(made)), out_(&out) {}

    // Returns the next item, or the mark that ends an epoch; else the status `closed` or `timed_out`. Blocks
    // the calling thread.
    get_result<T> take(duration max_wait = (duration::max)()) {
        detail::run_core<policy>& all = core();
        detail::consumer_sampler* const times = all.consumer();
        if (times != nullptr) times->called();
        std::optional<T> first = fetched_ahead_.take(all);
        const auto wait = [&] { return out_->blocking_get(max_wait); };
        get_result<T> got = first ? get_result<T>(*std::move(first)) : all.drive_loops_in(wait);
        if (times != nullptr) times->returned(got && !item_traits::is_mark(*got));
        if constexpr (detail::is_epoch_item<T>) {
            std::optional<T> late = got ? std::nullopt : fetched_ahead_.take(all);  // put during the wait
            if (late) return get_result<T>(*std::move(late));
        }
        return got;
    }

    // Moves the item out of the run, and records for checkpoints (records of what consumers have taken) that
    // the consumer has taken the item.
    static value_type deliver(T& got) noexcept {
        item_traits::provenance_of(got).acknowledge(true);
        return std::move(item_traits::value_of(got));
    }

    // Takes the next item. `over_marks`: true for the next item of the stream; false for the next item of the
    // current epoch. Returns nothing if there is no such item. `times`: null if the run does not record the
    // consumer's times.
    task<std::optional<value_type>> next_of_epochs(bool over_marks, detail::consumer_sampler* times) {
        std::optional<value_type> item;
        do {
            if (times != nullptr) times->called();
            std::optional<T> got = fetched_ahead_.take(core());
            if (!got) {
                detail::get_operation<queue> get(*out_);
                std::optional<T> next = co_await get;
                if (next) got.emplace(*std::move(next));
            }
            if (!got) {  // as in take()
                if (auto late = fetched_ahead_.take(core())) got.emplace(*std::move(late));
            }
            if (!got) end_stream();
            if (!got) break;
            const bool is_item = !item_traits::is_mark(*got);
            if (times != nullptr) times->returned(is_item);
            if (is_item) item.emplace(deliver(*got));
        } while (!item && over_marks);
        co_return item;
    }

    // The awaitable of `next` in a run without epochs. Throws the failure of the run at the end of the
    // stream.
    class [[nodiscard("co_await this, or nothing is got")]] next_operation
        : public detail::get_operation<queue> {
      public:
        next_operation(run& r, detail::consumer_sampler* times) noexcept
            : detail::get_operation<queue>(*r.out_), run_(&r), times_(times) {}
        auto await_ready() noexcept {
            if (times_ != nullptr) times_->called();
            return detail::get_operation<queue>::await_ready();
        }
        std::optional<T> await_resume() {
            std::optional<T> item = detail::get_operation<queue>::await_resume();
            if (!item) run_->end_stream();
            if (times_ != nullptr && item) times_->returned(true);
            return item;
        }

      private:
        run* run_;
        detail::consumer_sampler* times_;
    };

    task<run_result> drain_task() {  // the work of `co_await run`
        std::uint64_t items = 0;
        while (auto item = co_await next()) ++items;
        run_result all{items, this->stats()};
        co_return all;
    }
    // The awaiter of `co_await run`. Holds the task, because a task can only be awaited as an rvalue.
    class drain_operation {
      public:
        explicit drain_operation(task<run_result>&& all) noexcept : all_(std::move(all)) {}
        bool await_ready() const noexcept { return false; }
        // Resumes the coroutine on its executor when the stream has ended.
        template <class Promise>
        auto await_suspend(std::coroutine_handle<Promise> h) noexcept {
            return awaiter_.await_suspend(h);
        }
        run_result await_resume() { return awaiter_.await_resume(); }

      private:
        task<run_result> all_;
        decltype(std::declval<task<run_result>>().operator co_await()) awaiter_ =
            std::move(all_).operator co_await();
    };

    queue* out_;                                                    // the last queue
    [[no_unique_address]] detail::fetched_ahead<T> fetched_ahead_;  // of a destroyed `epoch_range`
};

}  // namespace weir

#endif
