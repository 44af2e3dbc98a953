// weir floor 9: a pipeline at work, and the consumer's hold on it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_HPP
#define WEIR_RUN_HPP

#include <weir/channel.hpp>
#include <weir/clock.hpp>
#include <weir/get_result.hpp>
#include <weir/policy.hpp>
#include <weir/run_core.hpp>
#include <weir/stats.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::ptrdiff_t
#include <iterator>   // for std::input_iterator_tag
#include <memory>     // for std::unique_ptr
#include <optional>   // for std::optional
#include <utility>    // for std::move

namespace weir {

/// A pipeline that was started. The consumer takes its items:
///
///     for (auto& batch : run) train(batch);                  // a thread
///     while (auto batch = co_await run.next()) train(*batch);  // a coroutine
///
/// Ends:     when the source has ended and everything is delivered; when `stop` is called or the run
///           is destroyed; when the stop token of its options asks; or by a failure.
/// Errors:   a failure that stopped the run is thrown as `pipeline_failure`, once, by whatever would
///           have given the next item, after everything that was finished before it was delivered.
/// Threads:  `stats`: any. The rest: one consumer at a time.
/// Lifetime: the destructor stops the run and blocks until nothing of it runs any more: as long as the
///           longest invocation under way. The executors, and what the stages refer to, outlive it.
///           Moving it while it runs is fine.
template <class T, class Policy = measured>
class [[nodiscard("destroying the run stops it: keep it, and take its items")]] run {
    using queue = channel<T, Policy>;

  public:
    class iterator;
    using value_type = T;

    ~run() = default;
    run(run&&) noexcept = default;
    run& operator=(run&&) noexcept = default;

    /// Takes the next item, for a coroutine.
    ///
    /// \returns  awaitable of `optional<T>`: empty at the end.
    /// Suspends: while no item is there. Resumes: on the coroutine's executor.
    [[nodiscard("co_await this, or nothing is got")]] auto next() { return next_operation(*this); }

    /// Takes the next item, for a thread, which blocks while there is none. Where the run's executor
    /// has no threads of its own (virtual time), the thread runs it meanwhile.
    /// \returns an item; nothing at the end.
    [[nodiscard]] std::optional<T> get() {
        get_result<T> result = out_->blocking_get();
        if (!result) at_end();
        return result ? std::optional<T>(*std::move(result)) : std::nullopt;
    }

    /// The same for at most `timeout`.
    /// \returns an item, or `timed_out`, or `closed` at the end. A time-out loses no item.
    [[nodiscard]] get_result<T> get(duration timeout) {
        get_result<T> result = out_->blocking_get(timeout);
        if (result.status() == channel_status::closed) at_end();
        return result;
    }

    /// An input range of the items, for a thread: blocks in `begin` and `++`. A later loop goes on
    /// where the last one left.
    [[nodiscard]] iterator begin() { return iterator(*this); }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

    /// Not from a stage of this run, nor from its `on_lap`: that would wait for itself. Use the stop token
    /// of `run_options` there.
    ///
    /// Stops: no stage takes another item, what is in the queues is destroyed, and the call blocks
    /// until all invocations under way have ended. Doing it again does nothing.
    void stop() noexcept { core_->stop(); }

    /// What was measured from the start until now; after the end of the stream, until then.
    /// At any time, from any thread. Cost: some microseconds; each queue and stage is locked for the
    /// time of copying a few counters, none while another is.
    [[nodiscard]] pipeline_stats stats() const { return core_->stats(); }

  private:
    template <class...>
    friend class pipeline;

    run(std::unique_ptr<detail::run_core<Policy>> core, queue& out) noexcept
        : core_(std::move(core)), out_(&out) {}

    void at_end() {
        core_->freeze();
        core_->throw_failure();
    }

    class [[nodiscard("co_await this, or nothing is got")]] next_operation
        : public detail::get_operation<queue> {
      public:
        explicit next_operation(run& r) noexcept
            : detail::get_operation<queue>(*r.out_), run_(&r) {}
        std::optional<T> await_resume() {
            std::optional<T> item = detail::get_operation<queue>::await_resume();
            if (!item) run_->at_end();
            return item;
        }

      private:
        run* run_;
    };

    std::unique_ptr<detail::run_core<Policy>> core_;
    queue* out_;
};

/// Its place in the stream: the item last taken.
template <class T, class Policy>
class run<T, Policy>::iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using pointer = T*;

    [[nodiscard]] T& operator*() const noexcept { return *item_; }
    [[nodiscard]] T* operator->() const noexcept { return &*item_; }
    iterator& operator++() {
        std::optional<T> next = run_->get();
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
    mutable std::optional<T> item_;
};

}  // namespace weir

#endif
