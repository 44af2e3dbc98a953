// weir executor, internal: counts the users of an executor, which have to be destroyed before the executor
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_EXECUTOR_USERS_HPP
#define WEIR_EXECUTOR_EXECUTOR_USERS_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/platform/transfer.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint8_t, std::uint32_t, std::uint64_t
#include <cstdio>   // for std::fprintf
#include <cstdlib>  // for std::abort, std::atexit
#include <utility>  // for std::exchange, std::swap

namespace weir::detail {

// A shared flag that tells the remaining users of an object that the object was destroyed. A copy shares the
// flag; the last copy frees it. (A std::weak_ptr would do, but <memory> is too heavy for task.hpp.)
class end_flag {
    struct cell {
        standard_platform::atomic<std::uint32_t> users{1};
        standard_platform::atomic<bool> ended{false};
    };
    cell* cell_ = nullptr;

    explicit end_flag(cell* one) noexcept : cell_(one) {}

  public:
    // No flag: `set` has no effect, and `is_set` returns false.
    end_flag() noexcept = default;
    // Errors: std::bad_alloc.
    static end_flag make() { return end_flag(new cell); }

    end_flag(const end_flag& other) noexcept : cell_(other.cell_) {
        // relaxed: the copied object holds a reference, so the cell can't be freed meanwhile
        if (cell_ != nullptr) cell_->users.fetch_add(1, std::memory_order_relaxed);
    }
    end_flag(end_flag&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    end_flag& operator=(end_flag other) noexcept {
        std::swap(cell_, other.cell_);
        return *this;
    }
    ~end_flag() {
        // acq_rel; pairs with itself: the last owner deletes the cell after the other owners' last accesses
        if (cell_ != nullptr && cell_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete cell_;
    }

    // relaxed, in `set` and `is_set`: other synchronisation orders the use of an object against its
    // destruction
    void set() noexcept {
        if (cell_ != nullptr) cell_->ended.store(true, std::memory_order_relaxed);
    }
    bool is_set() const noexcept { return cell_ != nullptr && cell_->ended.load(std::memory_order_relaxed); }
};

// Tells destructors of static objects whether the process is ending by `std::exit`. Those destructors run on
// the thread that called `std::exit`. That thread has lost its thread_record before, because its thread-local
// objects are destroyed first. If the thread never had a thread_record, a flag tells instead, which an atexit
// handler sets. The handler runs before the destructors of the static objects that existed when the handler
// was registered. `has_begun` is also true on any other thread that ends and has lost its thread_record.
class process_end {
  public:
    // Registers the atexit handler. Called when an executor gets its first user. The standard guarantees room
    // for 32 handlers: only the first 32 calls have an effect. relaxed: only counts
    static void watch() noexcept {
        if (num_handlers_.fetch_add(1, std::memory_order_relaxed) < most_handlers) std::atexit(note);
    }
    static bool has_begun() noexcept {
        return basic_thread_record<standard_platform>::is_over() || noted_.load(std::memory_order_relaxed);
    }

  private:
    static constexpr std::uint64_t most_handlers = 32;

    // relaxed, here and above: destructors call has_begun() on the thread that runs the handler
    static void note() noexcept { noted_.store(true, std::memory_order_relaxed); }
    inline static constinit standard_platform::atomic<bool> noted_{false};  // the handler has run
    inline static constinit standard_platform::atomic<std::uint64_t> num_handlers_{0};
};

// Whether a coroutine on this thread has called `std::exit`. Destructors of static objects then run on top of
// that coroutine, which never continues. So a destructor must not wait for coroutines, and leaves all
// coroutines as they are.
WEIR_NOINLINE inline bool exits_in_a_coroutine() noexcept {
    return basic_thread_record<standard_platform>::is_over() && trampoline::of_this_call() != nullptr;
}

// Sleeps for 10 ms. Called during `std::exit`: threads that take the results of runs can't be joined. During
// this sleep these threads take the items that are left in their queues, and then block.
inline void let_consumers_block() noexcept { parker().wait(10'000'000); }

// A kind of user; `run`: a started pipeline; `lanes`: `priority_lanes`.
enum class executor_user : std::uint8_t { run, task_group, watchdog, lanes, channel };

// The users of one executor; a member of each executor. Counts objects, not operations: a run counts once,
// however many items it processes.
class executor_users {
    static constexpr std::size_t kinds = 5;
    // relaxed: a correct program orders the end of each user before the executor's destructor. An old value
    // in is_for_one_run() only changes whether a waiting consumer works for the executor.
    standard_platform::atomic<std::uint32_t> counts_[kinds]{};
    end_flag end_;                   // set by the destructor
    process_of_origin born_;         // the process that made the executor: not a forked one
    bool allows_leftovers_ = false;  // see allow_leftovers()
    standard_platform::atomic<bool> is_watched_{false};  // `process_end::watch` was called
    // The arguments of `leave_behind`; null before that call.
    void* left_ = nullptr;
    void* functions_ = nullptr;

  public:
    // `passing`: no user reads the flag that tells of the executor's destruction, so none is allocated.
    explicit executor_users(bool passing = false) : end_(passing ? end_flag() : end_flag::make()) {}
    executor_users(const executor_users&) = delete;
    executor_users& operator=(const executor_users&) = delete;
    ~executor_users() {
        abort_if_any();
        end_.set();
        // volatile: otherwise the compiler drops a store into an object whose lifetime ends here
        if (left_ != nullptr) *static_cast<void* volatile*>(left_) = functions_;
    }

    // The flag that is set when the executor is destroyed; for users that are not counted.
    const end_flag& end() const noexcept { return end_; }

    // False in a process that was forked after the executor was made.
    bool is_process_of_origin() const noexcept { return born_.is_here(); }

    void join(executor_user kind) noexcept {  // a user begins; `leave`: it ends
        count_of(kind).fetch_add(1, std::memory_order_relaxed);
        if (!is_watched_.exchange(true, std::memory_order_relaxed)) process_end::watch();
    }
    void leave(executor_user kind) noexcept { count_of(kind).fetch_sub(1, std::memory_order_relaxed); }

    // From now on users may remain when the executor is destroyed: after a deadlock, their coroutines can't
    // run again.
    void allow_leftovers() noexcept { allows_leftovers_ = true; }

    bool has_any() const noexcept {
        bool any = false;
        for (const auto& count : counts_) any = any || count.load(std::memory_order_relaxed) != 0;
        return any;
    }

    // Whether exactly one run, and no task group, uses the executor; other kinds of users don't count.
    bool is_for_one_run() const noexcept {
        const auto number_of = [this](executor_user kind) {
            return counts_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
        };
        return number_of(executor_user::run) == 1 && number_of(executor_user::task_group) == 0;
    }

    // Called if `executor` is destroyed while the process ends, and threads that can't be joined still call
    // it. The destructor of this object then stores `functions` in `executor`, as the address of its virtual
    // function table. So the calls of those threads do nothing: see `left_executor` in threaded_executor.hpp.
    void leave_behind(void* executor, void* functions) noexcept {
        allow_leftovers();
        left_ = executor;
        functions_ = functions;
    }

    // Ends the program, in every build mode, if a user or a timer remains, which would use freed memory.
    // `sleeps`: whether a timer is pending. An executor calls this as soon as nothing runs on it. Has no
    // effect after `allow_leftovers`, in a forked process, or while the process ends by `std::exit`.
    void abort_if_any(bool sleeps = false) const noexcept {
        if (allows_leftovers_ || !born_.is_here() || process_end::has_begun()) return;
        static constexpr const char* names[kinds] = {"a run that uses it",
                                                     "a task_group that starts tasks on it",
                                                     "a watchdog that looks at it",
                                                     "priority_lanes that lead to it",
                                                     "a channel that measures by its clock"};
        for (std::size_t i = 0; i < kinds; ++i) {
            if (counts_[i].load(std::memory_order_relaxed) != 0) fail_before(names[i]);
        }
        if (sleeps) fail_before("a coroutine that sleeps on it");
    }

    // Prints the sentence and aborts, in every build mode.
    [[noreturn]] WEIR_NOINLINE static void fail(const char* sentence) noexcept {
        std::fprintf(stderr, "%s\n", sentence);
        std::abort();
    }

  private:
    [[noreturn]] WEIR_NOINLINE static void fail_before(const char* user) noexcept {
        std::fprintf(stderr, "weir: an executor is destroyed before %s; declare the executor first\n", user);
        std::abort();
    }

    standard_platform::atomic<std::uint32_t>& count_of(executor_user kind) noexcept {
        return counts_[static_cast<std::size_t>(kind)];
    }
};

}  // namespace weir::detail

#endif
