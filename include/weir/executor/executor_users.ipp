// weir executor, internal: bodies of the functions of executor/executor_users.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_EXECUTOR_USERS_IPP
#define WEIR_EXECUTOR_EXECUTOR_USERS_IPP

#include <weir/executor/executor_users.hpp>

#include <weir/platform/config.hpp>

#include <cstdio>   // for std::fprintf
#include <cstdlib>  // for std::abort, std::atexit
#include <utility>  // for std::swap

namespace weir::detail {

WEIR_INLINE end_flag::end_flag(const end_flag& other) noexcept : cell_(other.cell_) {
    // relaxed: the copied object holds a reference, so the cell can't be freed meanwhile
    if (cell_ != nullptr) cell_->users.fetch_add(1, std::memory_order_relaxed);
}

WEIR_INLINE end_flag& end_flag::operator=(end_flag other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
}

WEIR_INLINE end_flag::~end_flag() {
    // acq_rel; pairs with itself: the last owner deletes the cell after the other owners' last accesses
    if (cell_ != nullptr && cell_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete cell_;
}

WEIR_INLINE void end_flag::set() noexcept {
    if (cell_ != nullptr) cell_->ended.store(true, std::memory_order_relaxed);
}

WEIR_INLINE void process_end::watch() noexcept {
    if (num_handlers_.fetch_add(1, std::memory_order_relaxed) < most_handlers) std::atexit(note);
}

WEIR_INLINE bool process_end::has_begun() noexcept {
    return basic_thread_record<standard_platform>::is_over() || noted_.load(std::memory_order_relaxed);
}

WEIR_NOINLINE WEIR_INLINE bool exits_in_a_coroutine() noexcept {
    return basic_thread_record<standard_platform>::is_over() && trampoline::of_this_call() != nullptr;
}

WEIR_INLINE void let_consumers_block() noexcept {
    parker nobody;
    nobody.wait(10'000'000);
}

WEIR_INLINE executor_users::~executor_users() {
    abort_if_any();
    end_.set();
    // volatile: otherwise the compiler drops a store into an object that ends here
    if (left_ != nullptr) *static_cast<void* volatile*>(left_) = functions_;
}

WEIR_INLINE void executor_users::join(executor_user kind) noexcept {
    count_of(kind).fetch_add(1, std::memory_order_relaxed);
    if (!is_watched_.exchange(true, std::memory_order_relaxed)) process_end::watch();
}

WEIR_INLINE bool executor_users::has_any() const noexcept {
    bool any = false;
    for (const auto& count : counts_) any = any || count.load(std::memory_order_relaxed) != 0;
    return any;
}

WEIR_INLINE bool executor_users::is_for_one_run() const noexcept {
    const auto number_of = [this](executor_user kind) {
        return counts_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
    };
    return number_of(executor_user::run) == 1 && number_of(executor_user::task_group) == 0;
}

WEIR_INLINE void executor_users::leave_behind(void* executor, void* functions) noexcept {
    allow_leftovers();
    left_ = executor;
    functions_ = functions;
}

WEIR_INLINE void executor_users::abort_if_any(bool sleeps) const noexcept {
    if (allows_leftovers_ || !born_.is_here() || process_end::has_begun()) return;
    static constexpr const char* names[kinds] = {"a run that uses it", "a task_group that starts tasks on it",
                                                 "a watchdog that looks at it",
                                                 "priority_lanes that lead to it",
                                                 "a channel that measures by its clock"};
    for (std::size_t i = 0; i < kinds; ++i) {
        if (counts_[i].load(std::memory_order_relaxed) != 0) fail_before(names[i]);
    }
    if (sleeps) fail_before("a coroutine that sleeps on it");
}

WEIR_NOINLINE WEIR_INLINE void executor_users::fail(const char* sentence) noexcept {
    std::fprintf(stderr, "%s\n", sentence);
    std::abort();
}

WEIR_NOINLINE WEIR_INLINE void executor_users::fail_before(const char* user) noexcept {
    std::fprintf(stderr, "weir: an executor is destroyed before %s; declare the executor first\n", user);
    std::abort();
}

WEIR_INLINE standard_platform::atomic<std::uint32_t>& executor_users::count_of(executor_user kind) noexcept {
    return counts_[static_cast<std::size_t>(kind)];
}

}  // namespace weir::detail

#endif
