// weir executor, internal: what uses an executor, and so has to be gone before it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_EXECUTOR_USERS_HPP
#define WEIR_EXECUTOR_EXECUTOR_USERS_HPP

#include <weir/executor/end_flag.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/thread_record.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint8_t, std::uint32_t
#include <cstdio>   // for std::fprintf
#include <cstdlib>  // for std::abort

namespace weir::detail {

enum class executor_user : std::uint8_t { run, task_group, watchdog, lanes, channel };

// Whether the process ends by `exit`. The thread that called `exit` has lost its own objects, thread_record
// among them. A thread that never had any is told by a handler, which runs before the destructors of the
// static objects that existed when the handler was registered.
class process_end {
  public:
    // The standard promises room for 32 handlers. The first executors are those that may be static.
    static void watch() noexcept {
        if (num_handlers_.fetch_add(1, std::memory_order_relaxed) < most_handlers) std::atexit(note);
    }
    static bool has_begun() noexcept {
        return basic_thread_record<standard_platform>::is_over() || noted_.load(std::memory_order_relaxed);
    }

  private:
    static constexpr std::uint64_t most_handlers = 32;

    // relaxed, here and above: the destructors that ask run on the thread that runs the handler
    static void note() noexcept { noted_.store(true, std::memory_order_relaxed); }
    inline static constinit standard_platform::atomic<bool> noted_{false};
    inline static constinit standard_platform::atomic<std::uint64_t> num_handlers_{0};
};

// A member of each executor. Objects are counted, not what they do: a run once, however many items pass.
class executor_users {
    static constexpr std::size_t kinds = 5;
    // relaxed: who destroys the executor comes after those who use it, or sees that by the count
    standard_platform::atomic<std::uint32_t> counts_[kinds]{};
    end_flag end_;
    process_of_origin born_;
    bool excused_ = false;
    standard_platform::atomic<bool> is_watched_{false};
    void* left_ = nullptr;  // the executor, if that is left
    void* functions_ = nullptr;

  public:
    // `passing`: what it uses takes no interest in its end.
    explicit executor_users(bool passing = false) : end_(passing ? end_flag() : end_flag::make()) {}
    executor_users(const executor_users&) = delete;
    executor_users& operator=(const executor_users&) = delete;
    ~executor_users() {
        abort_if_any();
        end_.set();
        // volatile: to the compiler the object ends here
        if (left_ != nullptr) *static_cast<void* volatile*>(left_) = functions_;
    }

    // For what may be left when the executor is gone.
    const end_flag& end() const noexcept { return end_; }

    // Whether this is the process in which the executor was made.
    bool are_of_here() const noexcept { return born_.is_here(); }

    void join(executor_user kind) noexcept {
        count_of(kind).fetch_add(1, std::memory_order_relaxed);
        if (!is_watched_.exchange(true, std::memory_order_relaxed)) process_end::watch();
    }
    void leave(executor_user kind) noexcept { count_of(kind).fetch_sub(1, std::memory_order_relaxed); }

    // Nothing can ever run there again, and somebody waits: those may be left as they are.
    void excuse() noexcept { excused_ = true; }

    // Whether there is one.
    bool has_any() const noexcept {
        bool any = false;
        for (const auto& count : counts_) any = any || count.load(std::memory_order_relaxed) != 0;
        return any;
    }

    // The executor is destroyed while threads use it that nobody can wait for, as the process ends. What they
    // call from then on are these functions, instead of pure virtual ones.
    void leave(void* executor, void* functions) noexcept {
        excuse();
        left_ = executor;
        functions_ = functions;
    }

    // To be called as soon as nothing runs there any more. What is left would use freed memory sooner or
    // later: ends the program, in every build mode. Not in a process that was forked meanwhile, where what
    // used it may have been left as it was; nor while the process ends by `exit`, which leaves what is on the
    // threads' stacks. `sleeps`: whether a timer is pending.
    void abort_if_any(bool sleeps = false) const noexcept {
        if (excused_ || !born_.is_here() || process_end::has_begun()) return;
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

    // In every build mode.
    [[noreturn]] WEIR_NOINLINE static void fail(const char* sentence) noexcept {
        std::fprintf(stderr, "%s\n", sentence);
        std::abort();
    }

  private:
    [[noreturn]] WEIR_NOINLINE static void fail_before(const char* what) noexcept {
        std::fprintf(stderr, "weir: an executor is destroyed before %s; declare the executor first\n", what);
        std::abort();
    }

    standard_platform::atomic<std::uint32_t>& count_of(executor_user kind) noexcept {
        return counts_[static_cast<std::size_t>(kind)];
    }
};

}  // namespace weir::detail

#endif
