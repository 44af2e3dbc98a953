// weir executor: a work-stealing pool, by default with one worker a core
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_THREAD_POOL_HPP
#define WEIR_EXECUTOR_THREAD_POOL_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/place_lease.hpp>
#include <weir/executor/pool_worker.hpp>
#include <weir/executor/work_finder.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>   // for std::coroutine_handle
#include <cstdint>     // for std::int64_t, std::uint64_t
#include <functional>  // for std::function

namespace weir {

/// Options of a `thread_pool`, given by name: `weir::thread_pool pool(4, {.most_workers = 16})`.
struct thread_pool_options {
    /// The largest number that `set_workers` accepts. A worker that was never started costs some hundred
    /// bytes. 0: the default of the constructor's parameter `workers`, or the initial number of workers,
    /// whichever is larger.
    unsigned most_workers = 0;

    /// Called on each thread before it runs coroutines, with its worker's number, counted from 0. For the
    /// thread's name, its cores, or its device. Also called on threads that start later: for `set_workers`,
    /// for an added worker (see Blocking of the pool), or to replace a blocked worker, with its number again.
    ///
    /// Order: for one thread after the other, never for two at once.
    /// Errors: an exception leaves the constructor, once the threads that had begun have been joined; or
    ///         `set_workers`. A thread that is to help or replace a blocked one is not added then, and
    ///         nothing is thrown.
    /// Threads: the thread that starts this one waits until the function returns. The function must not use
    /// the pool.
    std::function<void(unsigned worker)> on_thread_start = nullptr;
};

/// Runs coroutines on a given number of threads, with work stealing. For code that computes; use a
/// `blocking_pool` for code that blocks.
///
/// A coroutine posted by a worker goes into that worker's next-to-run slot, and the slot's previous content
/// to the end of the worker's queue. A coroutine that posts itself (a yield) goes to the end of the queue.
/// Forks (parts of a larger job) run last in, first out. Idle workers steal lazily, so that coroutines that
/// hand items to each other stay on one core (`executor/steal_policy.hpp`).
///
/// Order: a worker serves its next-to-run slot at most three times in a row. However busy the other workers
/// are, a coroutine with n others before it in its worker's queue starts after at most 5 n + 4 resumptions of
/// that worker; if the worker has forks, 5 n + 8. A coroutine that was posted from outside, behind n others,
/// is taken after at most 61 (n + 1) resumptions of any worker: it starts then, or goes to the end of that
/// worker's queue. While the queue is not empty, the oldest fork starts after at most 66 resumptions of its
/// worker.
/// Threads: any thread may post and add timers. No coroutine is resumed inside `post`.
/// Lifetime: the destructor runs all posted coroutines, then joins the threads. All coroutines that use the
/// pool have to end before the threads are joined; no timer may be pending then.
/// Blocking: while a coroutine blocks in a wait of the library (`sync_wait`, a blocking `get` or `put`, the
/// end of a run or group), another thread works in its place, so there can be more threads than `workers()`.
/// All workers may then wait for a lock that the blocked coroutine holds. So if coroutines are queued, but no
/// worker has resumed one for 10 ms, workers are added, one after the other, until that coroutine resumes. If
/// the system has no thread left, a message on stderr says so.
/// Errors: std::terminate if an exception leaves a resumed coroutine, or if memory for a queue is exhausted.
/// The destructor called on a thread of the pool: a message and std::abort, except during `std::exit`.
/// Exit: if `std::exit` destroys a static pool on one of its threads, or while it has a user (see `executor`)
/// or a timer, the pool takes no more work. It waits up to 0.1 s for its threads to finish their current
/// resumptions, and lets the process end.
/// Source: Chase and Lev's deque (executor/deque.hpp); the next-to-run slot and its limit: Go and tokio.
/// Cost: idle workers sleep; one polls a GPU, or MPI, while coroutines of the pool wait for it. While a
/// worker is active, one idle worker, if there is one, searches at least every millisecond. So a coroutine
/// behind another one that occupies the worker of both waits for about 1 ms at most (0.1 ms on average). A
/// hand-over between two coroutines on one worker takes 12 ns.
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
    /// \param workers the number of threads, named "weir 0", "weir 1", and so on. The default is the number
    ///                of processors in the affinity mask, or the CPU quota of the control group, rounded up,
    ///                if that is less.
    /// Errors: std::invalid_argument if 0, negative, or more than a nonzero `most_workers`; std::system_error
    ///         if a thread can't be started; exceptions of `on_thread_start`.
    explicit basic_thread_pool(unsigned workers = Platform::concurrency(),
                               const thread_pool_options& options = {});

    ~basic_thread_pool() override;

    /// The number of workers that was asked for last, by the constructor or `set_workers`. If `set_workers`
    /// could not start all threads: the number of workers that have one.
    [[nodiscard]] unsigned workers() const noexcept { return this->asked(); }

    [[nodiscard]] std::size_t parallelism() const noexcept override { return workers(); }

    /// Changes the number of workers. Additional threads start at once. A surplus thread ends after its
    /// current resumption; its queues move behind what was posted from outside. An ended thread is joined
    /// when the next thread is started, or by the destructor. A run with `run_options::later_stages_first`
    /// uses at most as many workers as the pool had when the pool was made.
    ///
    /// Errors: std::invalid_argument for 0, a negative number, or more than
    ///         `thread_pool_options::most_workers`; `forked_error`; std::bad_alloc, std::system_error, and
    ///         exceptions of `on_thread_start`: threads that had begun by then stay, and `workers()` returns
    ///         their number.
    /// Threads: any, also the pool's own, and several at once, but not from `on_thread_start`. Blocks while
    ///         threads start. While the pool is being destroyed, only its own coroutines may call it, and
    ///         nothing changes.
    void set_workers(unsigned workers);

    using executor::post;
    // Not inlined, as all functions that call `current`: a coroutine would keep the thread-local address when
    // it continues on another thread.
    void post(std::coroutine_handle<> h) noexcept override;

    void fork(std::coroutine_handle<> h) noexcept override;

    /// On a thread of this pool: another thread takes its place for good. This thread sleeps until `done` is
    /// set, or until `limit`; then it only finishes its current resumption. If no other thread can be
    /// started, it sleeps for at most 1 ms. Returns true. So blocking code can't stop the pool, and nothing
    /// runs on top of such code. On other threads: returns false.
    bool drive(detail::parker& done, time_point limit) override;

    /// A thread that waits for an item of a run (a started pipeline) works in the place of one of this pool's
    /// threads: see `run_options::consumers_help`. Conditions: the thread runs no coroutine; exactly one run
    /// and no task group uses the pool; `on_thread_start` is not set; resumptions and channel operations take
    /// at most 2 us on average, or 150 ns on several processors if the pool was made with several workers. At
    /// most `workers()` threads run coroutines at a time.
    bool lend_place(detail::parker& done) noexcept override;

  private:
    static constexpr std::int64_t spin = 20'000;  // ns of searching before the first nap
    // A guest is a consumer (a thread that waits for an item of a run) that works in the place of a worker:
    // runs that worker's coroutines. After `misses_before_request` searches in a row without a result, the
    // guest asks the workers for coroutines; after more than `most_misses`, returns the place. (2 or 5
    // searches before the request are as good; 30 are too many: README's loop with statistics, on two
    // workers, then takes 369 ns an item instead of 264.)
    static constexpr int misses_before_request = 4;
    static constexpr int most_misses = 100;

    // Per thread: its pool, and the worker that the thread is now. `here` null: the thread is no worker now.
    // The thread never was one, has ended as one, was replaced by another thread, lends its place, or is a
    // consumer between two waits.
    struct place final : detail::thread_place {
        worker* here = nullptr;
        basic_thread_pool* of = nullptr;
        bool is_guest = false;  // a consumer; the place belongs to another thread
        // The pool in which this consumer keeps a place between two waits, in which nobody works. Only
        // compared: the pool may be gone.
        const basic_thread_pool* kept_in = nullptr;

        bool leave() noexcept override { return here == nullptr || of->leave_to_another(*this); }
        void end() noexcept {
            belong_no_more();
            here = nullptr;
            of = nullptr;
        }
        using detail::thread_place::belong_to_thread;
    };
    static place& current() noexcept { return Platform::template of_thread<place>(); }

    // The main loop of a worker. One turn:
    //   1. a surplus worker ends; a worker serves a consumer that asks: `serve_consumer`;
    //   2. `find` (work_finder.hpp): the next coroutine: its own, from outside, or stolen (steal_policy.hpp);
    //   3. without one, `idle` (idle_workers.hpp): watch or sleep, until there is work, or the worker ends;
    //   4. resume the coroutine; leave if another thread has replaced this thread meanwhile.
    bool work(unsigned number) noexcept override;
    WEIR_NOINLINE void end_place() noexcept override { current().end(); }

    // Makes the calling thread the worker's thread.
    place& take(worker& me) noexcept;
    // Answers the request of a consumer. For a place: gives the place of this worker. For coroutines, from a
    // guest: gives the coroutines that this worker has queued.
    void serve_consumer(place& mine, worker& me) noexcept;
    // The worker's thread lends its place. Returns when the thread has the place back: see
    // `basic_place_lease::stand_by`.
    void stand_by(place& mine, worker& me) noexcept;
    // Asks for a place, if that pays; returns whether the calling consumer is in one now. `done`: set when
    // the consumer no longer waits.
    bool ask_for_place(const detail::parker& done) noexcept;
    // The main loop of a consumer that has a place. Returns true when `done` is set or poked; false: more
    // than `most_misses` searches in a row found nothing to run, or another thread has the place.
    bool work_as_guest(place& mine, worker& me, const detail::parker& done) noexcept;
    // The consumer posts to the place that it keeps, and wakes no thread for the coroutine. False: nothing
    // was posted, as the place is not vacant any more. The place may have been that of an earlier pool at
    // this address; `lease_` is null if this pool lends none.
    bool post_to_kept(place& mine, std::coroutine_handle<> h) noexcept;
    // Called when the consumer waits for something else than an item: returns the kept place, so that the
    // worker's own thread goes on at once.
    WEIR_NOINLINE void return_kept(place& mine) noexcept {
        mine.kept_in = nullptr;
        if (lease_ != nullptr && lease_->enter()) lease_->return_place();  // null: see post_to_kept()
    }
    void wake_all() noexcept override;

    // Makes another thread the worker's thread, while the calling thread blocks. Coroutines further down the
    // stack can no longer use the worker's queue of forks. False: no other thread could be started, and the
    // calling thread remains the worker's.
    bool leave_to_another(place& mine) noexcept;

    // Ends a surplus worker between two resumptions, and leaves its queues to the others. False: the worker
    // is no longer surplus.
    bool end_if_surplus(worker& me) noexcept;

    // Nonzero if the pool ends and no thread blocks in a wait. The watcher calls this function before and
    // after it sees that no worker is active. A thread that blocks counts as active both before and after it
    // counts as blocked. So if both results are equal and not 0, no thread was active or blocked when the
    // watcher looked.
    std::uint64_t ends() const noexcept {
        const std::uint64_t waits = blocked_.load(std::memory_order_seq_cst);
        return this->is_over() && waits % change == 0 ? waits + 1 : 0;
    }

    // Called when `find` found nothing. Returns a coroutine; or that the pool is over; or neither: the worker
    // may be surplus.
    idle_end idle(worker& me) noexcept;

    // Null if the pool lends no place.
    const detail::owned<detail::basic_place_lease<Platform>> lease_;
};

/// The pool to use; only tests use another platform.
using thread_pool = basic_thread_pool<>;

WEIR_COMPILED(class basic_thread_pool<detail::standard_platform>);

}  // namespace weir

#include <weir/executor/thread_pool.ipp>

#endif
