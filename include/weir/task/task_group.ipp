// weir task, internal: bodies of the functions of task/task_group.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_TASK_GROUP_IPP
#define WEIR_TASK_TASK_GROUP_IPP

#include <weir/task/task_group.hpp>

#include <weir/platform/config.hpp>

#include <cstdio>  // for std::fprintf
#include <mutex>   // for std::lock_guard

namespace weir::detail {

WEIR_INLINE void print_unjoined(const std::exception_ptr& first, std::size_t count) noexcept {
    const auto print = [count](const char* what) {
        std::fprintf(
            stderr,
            "weir: nobody joined a task_group; %zu of its tasks ended by an exception, the first by: %s\n",
            count, what);
    };
    try {
        print(detail::without_controls(detail::error_text(first)).c_str());
    } catch (...) {
        print("memory lacks to say what");
    }
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE unjoined_sink set_unjoined_sink(unjoined_sink sink) noexcept {
    return detail::the_unjoined_sink.replace(sink);
}

WEIR_INLINE task_group::~task_group() {
    if (spawned_ > 0) block();
    report_errors();
}

WEIR_INLINE void task_group::spawn(task<>&& t) {
    detail::joined_task_ref<void>(t).check_valid();
    executor_->fork(start(std::move(t)));
}

WEIR_INLINE bool task_group::fork_operation::await_ready() const {
    detail::joined_task_ref<void>(task_).check_valid();
    return false;
}

WEIR_INLINE std::coroutine_handle<> task_group::start(task<>&& t, std::coroutine_handle<> forker) noexcept {
    if (++spawned_ < 0) [[unlikely]]
        count_during_join(1);
    const std::coroutine_handle<> handle =
        detail::joined_task_ref<void>(t).start(*this, *executor_, work_.ends(), forker);
    detail::joined_task_ref<void>::release(t);
    return handle;
}

WEIR_INLINE void task_group::keep(std::exception_ptr error) noexcept {
    const std::lock_guard guard(lock_);
    ++errors_;
    if (!error_) error_ = std::move(error);
}

WEIR_INLINE bool task_group::begin_join() noexcept {
    const std::int64_t rest = unjoined - spawned_;
    spawned_ = -unjoined;  // before the tasks can wake the waiter, which may destroy the group
    // acq_rel; pairs with task_ended(): the thread that counts down to 0 sees what all tasks did
    return unfinished_.fetch_sub(rest, std::memory_order_acq_rel) != rest;
}

WEIR_INLINE void task_group::abandon_join() noexcept {
    // acq_rel; pairs with task_ended(): if all tasks have ended, this thread sees what they did
    spawned_ = unfinished_.fetch_add(unjoined, std::memory_order_acq_rel);
    // relaxed: the value stays so large that no task is the last one
    unfinished_.fetch_sub(spawned_, std::memory_order_relaxed);
}

WEIR_INLINE void task_group::block() noexcept {
    if (detail::exits_in_a_coroutine()) return;  // in `std::exit` the coroutine below never continues
    detail::parker ended;
    thread_ = &ended;
    if (!begin_join()) return;
    try {
        detail::block_until(ended, *executor_);
    } catch (...) {
        return;  // the tasks can't end: a deadlock, or a fork of the process
    }
}

WEIR_INLINE void task_group::report_errors() noexcept {
    const unjoined_sink sink = detail::the_unjoined_sink.get();
    lock_.lock();
    const std::exception_ptr first = std::exchange(error_, nullptr);
    const std::size_t count = errors_;
    lock_.unlock();
    if (first && sink != nullptr) sink(first, count);
}

}  // namespace weir

#endif
