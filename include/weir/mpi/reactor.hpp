// weir mpi: begins operations of MPI, and polls until they are complete
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_REACTOR_HPP
#define WEIR_MPI_REACTOR_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/polled_source.hpp>
#include <weir/measure/clock.hpp>
#include <weir/mpi/error.hpp>
#include <weir/mpi/operations.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <algorithm>  // for std::clamp
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint32_t
#include <memory>     // for std::shared_ptr
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string
#include <utility>    // for std::exchange, std::move

namespace weir::mpi {

/// How often MPI is asked whether operations are complete: by an idle thread of the executor whose
/// coroutine waits, or else by the thread of the reactor, which the `world` starts. While ranks watch each
/// other (`failure_options`), pauses last for half of the interval of heartbeats at most; else for a minute.
struct polling_options {
    /// How long MPI is asked without a pause, after an operation has begun or ended.
    duration spin = std::chrono::microseconds(200);
    /// After `spin`, MPI is asked with pauses: of an eighth of the time since that event, but at least
    /// `shortest` and at most `longest`.
    duration shortest = std::chrono::microseconds(50);
    duration longest = std::chrono::milliseconds(4);      ///< see `shortest`; wins if below it
    duration background = std::chrono::milliseconds(20);  ///< pauses while no operation is pending
};

namespace detail {

// The work that a reactor does periodically, and the reports of this rank's failure: base of `heartbeat`.
class periodic_work {
  public:
    // Called under the reactor's lock. Returns when the next call is due, in ns of the platform's clock.
    virtual std::int64_t tick(std::int64_t now) noexcept = 0;
    // Tell all ranks that this rank has failed: `fail_here` at once, with the reason `why`; `abandon` in the
    // next `tick`, or, if `why` is empty, when the program has given its reason, or after a second.
    virtual void fail_here(const std::string& why) = 0;
    virtual void abandon(const std::string& why) = 0;

  protected:
    ~periodic_work() = default;
};

// A lock around `operations`, and a list of new operations. If the lock is free, the thread that submits an
// operation begins the operation; else the holder of the lock does. Any thread may poll: an idle thread of
// the executor whose coroutine waits; the reactor's thread, which calls run(), while no such thread polls;
// and callers of `poll`. With MPI_THREAD_FUNNELED, only one thread calls MPI: see `set_thread`.
// A world and its communicators share the reactor; communicators may be destroyed after the world.
class reactor final : public weir::detail::polled_source {
    using platform = standard_platform;
    using thread_id = decltype(platform::this_thread());

  public:
    // `has_guard`: a thread calls `run`.
    explicit reactor(const polling_options& how, bool has_guard = true) noexcept
        : polled_source(how.longest.count()), how_(how), has_guard_(has_guard) {}

    // Called before any operation. `only_here`: no thread but the caller may call MPI.
    void set_thread(bool only_here) noexcept { only_ = only_here ? platform::this_thread() : thread_id{}; }

    // Begins the operation; or leaves that to the thread that holds the lock, or to the only thread that may
    // call MPI. `poller`: the executor of the coroutine that waits for the operation. Idle threads of this
    // executor poll for the end, if they may call MPI. Null: the reactor's thread polls.
    void submit(operation& o, executor* poller = nullptr) noexcept {
        push(o);
        ask_for_poll(poller);
        try_work(false);
    }
    // The same as submit(), for an operation that ends when it begins: no thread has to poll for the end.
    void call(operation& o) noexcept {
        push(o);
        if (only_ != thread_id{}) ask_for_poll(nullptr);
        try_work(false);
    }

    // Begins the operation at once; `ended` may be called within this call. Called under the lock, by `begin`
    // or `ended` of another operation. `poller`: as for submit(), but not null. All operations that begin
    // while one thread holds the lock share one call of ask_for_poll().
    void begin_here(operation& o, executor& poller) noexcept {
        poller_of_begun_ = &poller;
        static_cast<void>(begin_or_give_up(o));
    }

    // Ends a receive or a probe early, unless it is complete. The operation exists until this call returns.
    void cancel(operation& o) noexcept {
        if (!o.may_cancel_) return;
        o.must_cancel_.store(true, std::memory_order_relaxed);  // ordered by the next store
        cancels_.store(true, std::memory_order_seq_cst);        // pairs with unlock(), as in push()
        ask_for_poll(nullptr);
        try_work(false);
    }

    // Begins submitted operations, cancels those passed to cancel(), ends those that are complete, and calls
    // `periodic_work::tick` when due. Does nothing if another thread holds the lock, or if this thread may
    // not call MPI. Any thread. Returns whether any operation has ended.
    bool poll() noexcept { return try_work(true); }

    // Waits for the lock, and calls the function while no other thread is in MPI. If this thread may call
    // MPI, the thread then serves the calls of `submit` and `cancel` by other threads meanwhile.
    template <class Function>
    void locked(Function function) noexcept {
        for (int round = 0; locked_.exchange(1, std::memory_order_seq_cst) != 0; ++round) {
            if (round < 64) {
                platform::pause();
            } else {
                platform::wait(locked_, 1, 50'000);  // in ns
            }
        }
        function();
        unlock();
        if (has_news()) try_work(false);
    }

    // Sets the object whose `tick` a poll calls when due; null: none. Called under the lock.
    void set_periodic(periodic_work* work) noexcept {
        periodic_ = work;
        next_period_ = 0;
    }

    // Records the failure of a rank. All operations end without a result, and no new operation begins: awaits
    // throw `why`. Later failures are ignored. Called under the lock.
    void fail(std::shared_ptr<const rank_failed> why) noexcept {
        if (is_failed_.load(std::memory_order_relaxed)) return;  // relaxed: only written under the lock
        failure_ = std::move(why);
        next_period_ = 0;
        is_failed_.store(true, std::memory_order_release);  // pairs with failure()
    }
    // Tell all ranks that this rank has failed: see `periodic_work`. Called under the lock.
    void report(const std::string& why) {
        if (periodic_ != nullptr) periodic_->fail_here(why);
    }
    void abandon(const std::string& why = {}) {
        if (periodic_ != nullptr) periodic_->abandon(why);
    }
    // The failure that fail() has recorded; null: no rank has failed. acquire; pairs with fail()
    const rank_failed* failure() const noexcept {
        return is_failed_.load(std::memory_order_acquire) ? failure_.get() : nullptr;
    }

    // Sleeps until the flag is set, or shorter: the caller repeats the call. If no thread calls `run`, polls.
    void wait(weir::detail::parker& flag) noexcept { static_cast<void>(has_guard_ ? flag.wait() : poll()); }
    bool has_guard() const noexcept { return has_guard_; }  // whether a thread calls `run`

    // Called before MPI is finalised: from now on nothing may be submitted. release; pairs with is_closed()
    void close() noexcept {
        locked([this]() noexcept { is_closed_.store(true, std::memory_order_release); });
    }
    // acquire; pairs with close()
    bool is_closed() const noexcept { return is_closed_.load(std::memory_order_acquire); }
    // Errors: `std::logic_error` after the end of the world.
    void check_world() const {
        if (!is_closed()) return;
        throw std::logic_error(
            "weir: the weir::mpi::world was destroyed, and MPI with it: keep the world until everything "
            "that sends or receives has ended");
    }

    // The loop of the reactor's thread, until `end` is called.
    void run() noexcept {
        guard([this](std::int64_t now) noexcept -> std::int64_t {
            if (is_ending_.load(std::memory_order_acquire)) {  // pairs with end()
                return poll_here(now, [](std::int64_t) { return true; });
            }
            if (now >= polled_at_ + how_.background.count()) {
                polled_at_ = now;
                static_cast<void>(poll());
            }
            return polled_at_ + how_.background.count();
        });
    }
    void end() noexcept {
        is_ending_.store(true, std::memory_order_release);  // pairs with run()
        wake();
    }

  private:
    bool may_call_here() const noexcept { return only_ == thread_id{} || only_ == platform::this_thread(); }

    void push(operation& o) noexcept {
        o.next_ = newest_.load(std::memory_order_relaxed);
        // seq_cst; pairs with unlock(): the caller takes the lock after this, or its holder sees the
        // operation. relaxed, above and on failure: only the address is used
        while (!newest_.compare_exchange_weak(o.next_, &o, std::memory_order_seq_cst,
                                              std::memory_order_relaxed)) {
        }
    }
    // Makes a thread poll soon: an idle thread of `poller`; but the reactor's thread if `poller` is null, has
    // no threads that poll, or if only one thread may call MPI. Does nothing if no thread calls `run`.
    void ask_for_poll(executor* poller) noexcept {
        if (!has_guard_) return;
        news_.fetch_add(1, std::memory_order_relaxed);  // relaxed: expect() then causes a poll, which sees it
        expect(only_ == thread_id{} ? poller : nullptr);
    }

    std::int64_t poll(std::int64_t now, bool) noexcept override {
        // Returns when to poll again, in ns. relaxed: if it misses a call of ask_for_poll(), a poll follows
        const std::uint32_t news = news_.load(std::memory_order_relaxed);
        if (poll() || news != seen_news_) last_event_ = now;
        seen_news_ = news;
        // relaxed: for an operation that this load misses, another poll follows: see ask_for_poll()
        if (num_begun_.load(std::memory_order_relaxed) == 0) return never;
        const std::int64_t quiet = now - last_event_;
        if (quiet < how_.spin.count()) return now;
        const std::int64_t longest = how_.longest.count(), shortest = how_.shortest.count();
        return now + std::clamp(quiet / 8, weir::detail::smaller(shortest, longest), longest);
    }

    bool try_work(bool polls) noexcept {  // works if the lock is free; `polls`: also tests begun operations
        if (!may_call_here()) return false;
        bool ended = false;
        do {
            if (locked_.exchange(1, std::memory_order_seq_cst) != 0) return ended;
            ended = work(polls) || ended;
            executor* const poller = std::exchange(poller_of_begun_, nullptr);
            unlock();
            if (poller != nullptr) ask_for_poll(poller);
            polls = false;
        } while (has_news());
        return ended;
    }
    // seq_cst; pairs with push() and cancel(), whose callers could not take the lock
    bool has_news() const noexcept {
        return newest_.load(std::memory_order_seq_cst) != nullptr || cancels_.load(std::memory_order_seq_cst);
    }
    void unlock() noexcept { locked_.store(0, std::memory_order_seq_cst); }

    bool work(bool polls) noexcept {  // under the lock
        bool ended = begin_new();
        if (cancels_.exchange(false, std::memory_order_seq_cst)) ended = begun_.cancel_marked() || ended;
        if (polls && failure() == nullptr) ended = begun_.test() || ended;
        if (polls && periodic_ != nullptr) {
            const std::int64_t now = platform::now();
            if (now >= next_period_) next_period_ = periodic_->tick(now);
        }
        if (failure() != nullptr) begun_.give_up_all();
        num_begun_.store(begun_.size(), std::memory_order_relaxed);  // see poll()
        return ended;
    }

    bool begin_or_give_up(operation& o) noexcept {  // none begins after a failure
        return failure() != nullptr ? operations::give_up(o) : begun_.begin(o);
    }
    bool begin_new() noexcept {  // the submitted operations, the oldest first
        operation* newer = newest_.exchange(nullptr, std::memory_order_acquire);  // pairs with push()
        operation* row = nullptr;
        while (newer != nullptr) {
            operation* const o = std::exchange(newer, newer->next_);
            o->next_ = row;
            row = o;
        }
        bool ended = false;
        while (row != nullptr) {
            operation& o = *std::exchange(row, row->next_);
            ended = begin_or_give_up(o) || ended;
        }
        return ended;
    }

    const polling_options how_;
    const bool has_guard_;  // a thread calls run()
    thread_id only_{};      // the only thread that may call MPI; none: every thread may
    platform::atomic<operation*> newest_{nullptr};  // the list of submitted operations, the newest first
    platform::atomic<bool> cancels_{false};         // an operation has to be cancelled: see cancel()
    platform::atomic<std::uint32_t> locked_{0};     // 1: a thread has the lock
    platform::atomic<std::uint32_t> news_{0};       // how often `ask_for_poll` was called
    platform::atomic<bool> is_ending_{false};       // end() was called
    platform::atomic<bool> is_failed_{false};
    platform::atomic<bool> is_closed_{false};
    platform::atomic<std::size_t> num_begun_{0};  // the size of `begun_`, for threads without the lock
    std::shared_ptr<const rank_failed> failure_;
    // Used by poll(now, bool), which one thread at a time calls:
    std::uint32_t seen_news_ = 0;  // `news_` at the last poll
    std::int64_t last_event_ = 0;  // when an operation has begun or ended
    std::int64_t polled_at_ = 0;   // when run() has polled last; used by run() only
    // Under the lock:
    operations begun_;
    executor* poller_of_begun_ = nullptr;  // `poller` of the last begin_here()
    periodic_work* periodic_ = nullptr;
    std::int64_t next_period_ = 0;  // when `periodic_work::tick` is due
};

}  // namespace detail

}  // namespace weir::mpi

#endif
