// weir run: a pipeline at work, and the consumer's hold on it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_HPP
#define WEIR_RUN_RUN_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/epoch_range.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_outcome.hpp>
#include <weir/task/task.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::ptrdiff_t
#include <iterator>     // for std::input_iterator_tag
#include <memory>       // for std::unique_ptr
#include <optional>     // for std::optional
#include <stdexcept>    // for std::logic_error
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <type_traits>  // for std::is_object_v
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

/// A pipeline that was started. Consumers take its items:
///
///     for (auto& batch : run) train(batch);                  // a thread
///     while (auto batch = co_await run.next()) train(*batch);  // a coroutine
///
/// Ends:     when the source has ended and everything is delivered; when `stop` is called or the run
///           is destroyed; when the stop token of its options asks; or by a failure.
/// Errors:   a failure that stopped the run is thrown as `pipeline_failure`, once, by whatever would
///           have given the next item, after everything that was finished before it was delivered. Of
///           several consumers one gets it, the others see the end. If memory lacks to say it,
///           `std::bad_alloc` is thrown, and the failure by the next call. `deadlock_error` on virtual time
///           from what blocks, where nothing can go on. `forked_error` from all that needs the run's
///           threads in a process that was forked from theirs; `stop` and the destructor do nothing there.
///           `std::logic_error` from one that was moved from; what is noexcept does nothing there. A failure
///           that nobody was thrown is told to the `failure_sink` by the destructor.
/// Threads:  any number of consumers, each item goes to one of them; and all else at any time, from any
///           thread. Only moving and destroying the run, and one pass over `epochs`, are for one alone.
/// Lifetime: the destructor stops the run and blocks until nothing of it runs any more: as long as the
///           longest invocation under way; but what a stage's function awaits of sleeps, channels and Asio
///           ends at once, by `stopped`. In a stage of the run itself it ends the program, with a sentence.
///           The executors, and what the stages refer to, outlive it. Nobody waits for an item of it when
///           it is moved or destroyed: of runs that take from each other, stop all first.
/// Cost:     of taking an item, that of `channel::get`; one coroutine more where the source has epochs.
///
/// \tparam T  what its last queue holds: the items, with more around them where the source has epochs.
template <class T, class Policy = measured>
class [[nodiscard("destroying the run stops it: keep it, and take its items")]] run {
    static_assert(detail::policy_like<Policy>,
                  "weir: what measures a channel or a run, or doesn't, is a policy, and this is none: "
                  "weir::measured, weir::summed or weir::unmeasured");
    static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                  "weir: a run gives objects, which move out of it: neither references nor constants");

    using queue = channel<T, Policy>;
    using load = detail::epoch_item_traits<T>;

  public:
    using value_type = detail::carried_value_t<T>;
    class iterator;

    // Its coroutines may wait for items of it, and find it whole until the last has ended.
    ~run() {
        core_.get_deleter()(core_.get());
        static_cast<void>(core_.release());
    }
    run(run&&) noexcept = default;
    run& operator=(run&&) noexcept = default;

    /// Takes the next item, for a coroutine.
    ///
    /// \returns  awaitable of `optional<value_type>`: empty at the end of the stream.
    /// Suspends: while no item is there. Resumes: on the coroutine's executor.
    [[nodiscard("co_await this, or nothing is got")]] auto next() {
        static_cast<void>(core());
        if constexpr (detail::is_epoch_item<T>) {
            return next_item();
        } else {
            return next_operation(*this);
        }
    }

    /// Takes the next item, for a thread, which blocks while there is none. Where the run's executor
    /// has no threads of its own (virtual time), the thread runs it meanwhile.
    /// \returns an item; nothing at the end of the stream.
    [[nodiscard]] std::optional<value_type> get() {
        while (true) {
            get_result<T> got = take();
            if (!got) at_end();
            if (!got) return std::nullopt;
            if (!load::is_mark(*got)) return hand_over(*got);
        }
    }

    /// The same for at most `timeout`.
    /// \returns an item, or `timed_out`, or `closed` at the end. A time-out loses no item.
    [[nodiscard]] get_result<value_type> get(duration timeout) {
        const time_point begin = detail::is_epoch_item<T> ? core().main_executor().now() : time_point();
        duration left = timeout;
        while (true) {
            get_result<T> got = take(left);
            if (got.status() == channel_status::closed) at_end();
            if (!got) return get_result<value_type>(got.status());
            if (!load::is_mark(*got)) return get_result<value_type>(hand_over(*got));
            if (timeout != duration::max()) left = timeout - (core_->main_executor().now() - begin);
        }
    }

    /// An input range of the items, for a thread: blocks in `begin` and `++`. A later loop goes on
    /// where the last one left.
    [[nodiscard]] iterator begin() { return iterator(*this); }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

    /// Takes the next item of the epoch at hand, for a coroutine; where the source has
    /// epochs. Each end of an epoch is told once, to one of the consumers.
    ///
    /// \returns an item; nothing at the end of the epoch, and at that of the stream (`ended()`).
    /// Suspends: while nothing is there. Resumes: on the coroutine's executor.
    [[nodiscard("co_await this, or nothing is got")]] task<std::optional<value_type>> next_in_epoch()
        requires detail::is_epoch_item<T>
    {
        static_cast<void>(core());
        std::optional<value_type> item;
        std::optional<T> got = left_.take();
        if (!got) {
            detail::get_operation<queue> get(*out_);
            std::optional<T> next = co_await get;
            if (next) got.emplace(*std::move(next));
        }
        if (!got) at_end();
        if (got && !load::is_mark(*got)) item.emplace(hand_over(*got));
        co_return item;
    }
    /// The same for a thread, which blocks.
    [[nodiscard]] std::optional<value_type> get_in_epoch()
        requires detail::is_epoch_item<T>
    {
        get_result<T> got = take();
        if (!got) at_end();
        if (!got || load::is_mark(*got)) return std::nullopt;
        return hand_over(*got);
    }

    /// The epochs, one after the other, each a range of its items, for one thread:
    ///
    ///     for (auto& epoch : run.epochs())
    ///         for (auto& batch : epoch) train(batch, epoch.number());
    ///
    /// What is left of an epoch when the outer loop goes on is passed over. A later pass over `epochs`
    /// begins with what is left of the one at hand.
    [[nodiscard]] epoch_range<run> epochs()
        requires detail::is_epoch_item<T>
    {
        return epoch_range<run>(*this);
    }

    /// What a source without epochs can't give gets a sentence.
    template <class Item = T>
        requires(!detail::is_epoch_item<Item>)
    auto next_in_epoch() noexcept {
        return no_epochs<Item>();
    }
    /// The same.
    template <class Item = T>
        requires(!detail::is_epoch_item<Item>)
    auto get_in_epoch() noexcept {
        return no_epochs<Item>();
    }
    /// The same.
    template <class Item = T>
        requires(!detail::is_epoch_item<Item>)
    auto epochs() noexcept {
        return no_epochs<Item>();
    }

    /// \returns whether a consumer has seen the end of the stream; true of a run that was moved from.
    [[nodiscard]] bool ended() const noexcept { return !core_ || core_->has_ended(); }

    /// \returns what has ended it, or that nothing has.
    [[nodiscard]] run_outcome outcome() const { return core().outcome(); }

    /// What the consumers have taken until now, to go on from there in another run, on any number of
    /// machines: see `checkpoint`. An item counts when `next` or `get` has returned it;
    /// a draw of which a stage made several items, when all of them have been taken.
    ///
    /// Errors: `std::logic_error` if the source is not one that can go on from a checkpoint.
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
    /// Errors: `std::logic_error` from a stage of this run, its hooks, `on_failure` and `on_lap`, which would
    ///         wait for themselves: `request_stop` is for those. Where nothing is measured, that can't be
    ///         told of a function that something of another library has resumed on a thread of its own: such
    ///         a one waits for ever.
    void stop() {
        if (!core_ || core_->orphaned()) return;
        core_->stop();
        if constexpr (detail::is_epoch_item<T>) static_cast<void>(left_.take());
    }

    /// The same without waiting, from anywhere: from a stage of this run, too.
    void request_stop() noexcept {
        if (!core_ || core_->orphaned()) return;
        core_->request_stop();
        if constexpr (detail::is_epoch_item<T>) static_cast<void>(left_.take());
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
    void set_concurrency(std::string_view stage, std::size_t slots) { core().set_concurrency(stage, slots); }

    /// Changes the capacity, in items, of the queue behind the stage of that name. With less, nothing is
    /// lost: what is inside stays. Errors: as above, and `std::bad_alloc`, without a change.
    void set_capacity(std::string_view stage, std::size_t items) { core().set_capacity(stage, items); }

    /// What was measured from the start until now; after the end of the stream, until then. Cost: some
    /// microseconds; each queue and stage is locked for the time of copying a few counters, none while
    /// another is.
    [[nodiscard]] pipeline_stats stats() const { return core().stats(); }

  private:
    template <class>
    friend class pipeline;
    template <class>
    friend class epoch_range;

    template <class Item>
    static auto no_epochs() {
        static_assert(detail::is_epoch_item<Item>,
                      "weir: the source of this run has no epochs; give it some, as in "
                      "weir::source(weir::epochs(files, 3)), or take items with next and get");
    }

    run(std::unique_ptr<detail::run_core<Policy>> core, queue& out) : core_(core.release()), out_(&out) {}

    // Of another process it stays as it is: coroutines in it may be half-way through an instruction.
    struct end_of_run {
        void operator()(detail::run_core<Policy>* core) const noexcept {
            if (core != nullptr && !core->orphaned()) delete core;
        }
    };

    detail::run_core<Policy>& known_core() const {
        if (core_) return *core_;
        throw std::logic_error(
            "weir: this run was moved from, and holds nothing: use the one that it was moved to");
    }
    // For all that looks at more than the run's own thread does.
    detail::run_core<Policy>& core() const {
        detail::run_core<Policy>& core = known_core();
        core.check_threads();
        return core;
    }

    // The next item or mark, for a thread.
    get_result<T> take(duration timeout = duration::max()) {
        static_cast<void>(core());
        if constexpr (detail::is_epoch_item<T>) {
            if (std::optional<T> first = left_.take()) return get_result<T>(*std::move(first));
        }
        return out_->blocking_get(timeout);
    }

    void at_end() {
        core_->see_end();
        core_->freeze();
        core_->throw_failure();
    }

    // The consumer has it.
    static value_type hand_over(T& got) noexcept {
        load::provenance_of(got).acknowledge();
        return std::move(load::value_of(got));
    }

    task<std::optional<value_type>> next_item() {
        std::optional<value_type> item;
        while (!item) {
            std::optional<T> got = left_.take();
            if (!got) {
                detail::get_operation<queue> get(*out_);
                std::optional<T> next = co_await get;
                if (next) got.emplace(*std::move(next));
            }
            if (!got) at_end();
            if (!got) break;
            if (!load::is_mark(*got)) item.emplace(hand_over(*got));
        }
        co_return item;
    }

    class [[nodiscard("co_await this, or nothing is got")]] next_operation
        : public detail::get_operation<queue> {
      public:
        explicit next_operation(run& r) noexcept : detail::get_operation<queue>(*r.out_), run_(&r) {}
        std::optional<T> await_resume() {
            std::optional<T> item = detail::get_operation<queue>::await_resume();
            if (!item) run_->at_end();
            return item;
        }

      private:
        run* run_;
    };

    std::unique_ptr<detail::run_core<Policy>, end_of_run> core_;
    queue* out_;
    [[no_unique_address]] detail::left_ahead<T> left_;
};

/// Its place in the stream: the item last taken. Lifetime: no longer than the run.
template <class T, class Policy>
class run<T, Policy>::iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = typename run::value_type;
    using difference_type = std::ptrdiff_t;
    using reference = value_type&;
    using pointer = value_type*;

    [[nodiscard]] value_type& operator*() const noexcept { return *item_; }
    [[nodiscard]] value_type* operator->() const noexcept { return &*item_; }
    iterator& operator++() {
        std::optional<value_type> next = run_->get();
        item_.reset();  // not assigned to: an item only has to move into a new place
        if (next) item_.emplace(*std::move(next));
        return *this;
    }
    void operator++(int) { ++*this; }
    [[nodiscard]] friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
        return !at.item_.has_value();
    }

  private:
    friend run;
    explicit iterator(run& r) : run_(&r), item_(r.get()) {}

    run* run_;
    mutable std::optional<value_type> item_;
};

}  // namespace weir

#endif
