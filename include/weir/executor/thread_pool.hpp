// weir executor: a work-stealing pool, one worker a core
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_THREAD_POOL_HPP
#define WEIR_EXECUTOR_THREAD_POOL_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/pool_options.hpp>
#include <weir/executor/work_finder.hpp>
#include <weir/executor/worker_places.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_place.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <type_traits>  // for std::is_convertible_v

namespace weir {

/// Runs coroutines on threads. For code that computes; what blocks belongs on a `blocking_pool`.
///
/// A coroutine posted by a worker goes into that worker's next-to-run slot, and who was there to
/// the end of the worker's queue; one that posts itself (a yield) goes to the end of the queue at
/// once. Parts of something large (`fork`) are taken last come, first served. Idle workers steal
/// lazily, so that coroutines which chat stay on one core (`executor/steal_policy.hpp`).
///
/// Order: the slot runs three times in a row at most. So a coroutine that n others are queued
/// before starts after at most 5 n + 4 resumptions of its worker, one posted from outside after at
/// most 61 (n + 1) of any worker, and the eldest fork after at most 64 of its worker, however
/// busy its neighbours are.
/// Threads: any may post and add timers. Nothing is ever resumed inside `post`.
/// Lifetime: the destructor runs what is still posted, then joins. All coroutines that use the pool
/// have to end by that; no timer may be pending.
/// Blocking: while a coroutine blocks in a wait of the library (`sync_wait`, a blocking `get` or `put`, the
/// end of a run or group), another thread works in its place, so more threads exist than `workers()`. Where
/// all workers are in something that lasts for 10 ms or more, as in a lock that a waiting coroutine has,
/// workers are added, one after the other, until that coroutine goes on. Where the system has no thread left,
/// a sentence on stderr says so.
/// Errors: an exception that leaves a resumed coroutine, or no memory for a queue to grow:
/// std::terminate. The destructor on one of its own threads: a sentence, and std::abort; but see `std::exit`.
/// Exit: `std::exit` in a coroutine, or by a consumer, with a static pool: the pool takes no more work, waits
/// up to 0.1 s for its threads to come out of what they run, and lets the process end with its status.
/// Source: Chase and Lev's deque (executor/deque.hpp); the slot and its bound are Go's and tokio's.
/// Cost: idle workers sleep. While at least one works, one idle worker looks for work at least
/// every millisecond, which is also how long a coroutine may wait behind another that hogs their
/// worker (0.1 ms on average). A hand-over between two coroutines on one worker: 12 ns.
template <class Platform = detail::standard_platform>
class basic_thread_pool final : public detail::basic_work_finder<Platform> {
    using base = detail::basic_work_finder<Platform>;
    using record = detail::basic_thread_record<Platform>;
    using base::blocked_;
    using base::change;
    using base::idle_;
    using base::inbox_;
    using base::timers_;
    using base::workers_;
    using typename base::watch;
    using typename base::worker;
    using idle_end = typename watch::end_of_watch;

  public:
    /// \param workers the number of threads, called "weir 0", "weir 1", and so on. By default as many as can
    ///                run at once: the processors of the affinity mask, or fewer, where the quota of the
    ///                control group allows no more, rounded up.
    /// Errors: std::invalid_argument if 0, or negative; std::system_error if a thread can't be started; what
    ///         `on_thread_start` throws.
    explicit basic_thread_pool(unsigned workers = Platform::concurrency(),
                               const thread_pool_options& options = {})
        : base(workers, detail::most_workers(workers, options.most_workers, Platform::concurrency()),
               "weir::thread_pool: 0 workers, or fewer, can run nothing; ask for at least 1, or for none to "
               "get one a core",
               "weir", options.on_thread_start) {
        this->start();
    }

    /// Rejects options without names at compile time.
    template <class Options>
        requires(!std::is_convertible_v<Options, const thread_pool_options&>)
    basic_thread_pool(unsigned workers, Options&&) : basic_thread_pool(workers) {
        static_assert(std::is_convertible_v<Options, const thread_pool_options&>,
                      "weir: the options of a pool are given by their names: weir::thread_pool pool(4, "
                      "{.most_workers = 16, .on_thread_start = name_it})");
    }

    ~basic_thread_pool() override {
        const bool is_mine = current().of == this;
        this->end(is_mine);
        if (is_mine) current().here = nullptr;
    }

    /// How many threads it is to have: what `set_workers` was told last.
    [[nodiscard]] unsigned workers() const noexcept { return this->asked(); }

    /// Changes the number of threads. More begin at once. Those that are too many end after what each runs
    /// now, and what they have queued goes behind what was posted from outside; their threads are joined when
    /// others take their places, or by the destructor. A run with `later_stages_first` goes on as for the
    /// number that the pool was made with.
    ///
    /// Errors: std::invalid_argument for 0, a negative number, or more than
    ///         `thread_pool_options::most_workers`; `forked_error`; std::bad_alloc, std::system_error, and
    ///         what `on_thread_start` throws: those that began by then stay, `workers()` says how many.
    /// Threads: any, also the pool's own, several at once, not from `on_thread_start`. Blocks while threads
    ///         start. Not while the pool is being destroyed, but by its own coroutines: nothing changes then.
    void set_workers(unsigned workers) {
        detail::check_workers(workers, this->most());
        this->check_threads();
        this->set_threads(workers);
        idle_.rouse();
    }

    using executor::post;
    // Not inlined, as all that calls `current`: see WEIR_NOINLINE.
    WEIR_NOINLINE void post(std::coroutine_handle<> h) noexcept override {
        worker* const me = current().here;
        if (me == nullptr || me->pool != this) return this->post_from_outside(h);
        if (h.address() == me->running()) return this->push(*me, h.address());
        if (void* const displaced = me->exchange_next(h.address(), me->thread())) {
            return this->push(*me, displaced);
        }
        if (idle_.unwatched()) idle_.call();
    }

    WEIR_NOINLINE void fork(std::coroutine_handle<> h) noexcept override {
        worker* const me = current().here;
        if (me == nullptr || me->pool != this) return this->post_from_outside(h);
        me->fork(h);
    }

    /// On a thread of this pool: another one works in its place from now on, as long as this one has not come
    /// back from what it runs; sleeps until `done` is set or poked, or until `limit`. So code that blocks
    /// there can't stop the pool, and nothing runs on top of it. Elsewhere: false.
    WEIR_NOINLINE bool drive(detail::parker& done, time_point limit) override {
        this->check_threads();
        place& mine = current();
        if (mine.of != this) return false;
        if (!mine.leave()) {
            this->sleep(done, limit, false);
            return true;
        }
        // In this order, and back in the reverse one: pairs with ends().
        blocked_.fetch_add(change + 1, std::memory_order_seq_cst);
        idle_.expect(-1);
        this->sleep(done, limit, true);
        idle_.expect(1);
        blocked_.fetch_add(change - 1, std::memory_order_seq_cst);
        return true;
    }

  private:
    static constexpr std::int64_t spin = 20'000;  // ns of searching before the first nap

    // What the calling thread is: of whatever pool, the thread of this worker; null: it left that to another.
    struct place final : detail::thread_place {
        worker* here = nullptr;
        basic_thread_pool* of = nullptr;

        bool leave() noexcept override { return here == nullptr || of->leave_to_another(*this); }
        using detail::thread_place::belong_to_thread;
    };
    static place& current() noexcept { return Platform::template of_thread<place>(); }

    bool work(unsigned number) noexcept override {
        worker& me = workers_[number];
        place& mine = take(me);
        executor::shift here(*this, &me);
        for (;;) {
            if (number >= this->wanted() && goes(me)) return false;
            void* found = this->find(me);
            if (found == nullptr) {
                const idle_end end = idle(me);
                if (end.over) return false;
                found = end.found;
            }
            if (found == nullptr) continue;
            me.count_resumption();
            me.runs(found);
            here.resume(std::coroutine_handle<>::from_address(found));
            if (mine.here == nullptr) [[unlikely]] {
                idle_.expect(-1);
                return true;
            }
            me.runs(nullptr);
        }
    }

    // The calling thread is that worker's from now on.
    WEIR_NOINLINE place& take(worker& me) noexcept {
        place& mine = current();
        mine.here = &me;
        mine.of = this;
        mine.belong_to_thread();
        me.set_thread(record::acquire(), static_cast<executor*>(this));
        return mine;
    }
    // What is below keeps nothing of the worker, which is another thread's from now on. Whether it is.
    WEIR_NOINLINE bool leave_to_another(place& mine) noexcept {
        worker& me = *mine.here;
        void* const running = me.running();
        detail::trampoline::leave(me);
        me.runs(nullptr);
        mine.here = nullptr;
        if (this->leave_place(me.number)) return true;
        take(me).here->runs(running);
        return false;
    }

    // One of too many workers, in the midst of which nothing is: what it has is taken by others.
    WEIR_NOINLINE bool goes(worker& me) noexcept {
        if (!this->let_go(me.number, [&] { me.hand_over(inbox_); })) return false;
        current().here = nullptr;
        idle_.expect(-1);
        return true;
    }

    // 0, or that the pool ends and no thread sleeps in a wait. Asked by a watcher before and after it sees
    // that no worker is active: a thread counts as active before and after it sleeps in a wait, so where both
    // answers are the same there was none of either at that instant.
    std::uint64_t ends() const noexcept {
        const std::uint64_t waits = blocked_.load(std::memory_order_seq_cst);
        return this->is_over() && waits % change == 0 ? waits + 1 : 0;
    }

    // A coroutine; or the pool ends; or neither, where the worker has to go.
    WEIR_NOINLINE idle_end idle(worker& me) noexcept {
        const auto has_to_go = [&] { return !this->is_wanted(me.number); };
        const bool mine = idle_.go_idle();
        if (!mine) {
            const auto why = idle_.sleep(has_to_go);
            if (why != watch::woken::to_watch) return {nullptr, why == watch::woken::by_the_end};
        }
        // Who has just run out of work waits for more; who was called has others to watch.
        const idle_end end = idle_.keep(
            me, mine ? Platform::now() + spin : 0, timers_, [this] { return ends(); }, has_to_go,
            [&](std::int64_t now, std::int64_t since) { return this->search(me, now, since); });
        if (end.over) {
            idle_.close();
            return end;
        }
        idle_.leave();
        me.searches(false);
        if (idle_.unwatched() && (!me.queue.empty() || !inbox_.empty() || timers_.next() != timers_.never)) {
            idle_.call();
        }
        return end;
    }
};

/// The one to use; only tests have another platform.
using thread_pool = basic_thread_pool<>;

WEIR_COMPILED(class basic_thread_pool<detail::standard_platform>);

}  // namespace weir

#endif
