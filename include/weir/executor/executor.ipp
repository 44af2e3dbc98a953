// weir executor, internal: bodies of the functions of executor/executor.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_EXECUTOR_IPP
#define WEIR_EXECUTOR_EXECUTOR_IPP

#include <weir/executor/executor.hpp>

#include <weir/platform/config.hpp>

#include <stdexcept>  // for std::invalid_argument

namespace weir {

WEIR_INLINE time_point executor::now() const noexcept {
    return time_point(duration(detail::standard_platform::now()));
}

WEIR_INLINE const void* executor::runs_on(const void* library) const noexcept {
    static_cast<void>(library);
    return nullptr;
}

WEIR_INLINE executor& executor::lasting() noexcept {
    return traits_.way_into != nullptr ? *traits_.way_into : *this;
}

WEIR_INLINE bool executor::orphaned() const noexcept {
    return traits_.has_threads && !users_.is_process_of_origin();
}

WEIR_INLINE executor::executor(const executor_traits& traits)
    : traits_(traits.parallelism != 0
                  ? traits
                  : throw std::invalid_argument(
                        "weir: an executor whose traits say parallelism 0 can run nothing; say how many "
                        "coroutines it runs at the same time, or nothing for 1")),
      users_(traits.passing) {}

WEIR_INLINE executor::shift::shift(executor& ex, detail::own_forks* forks) noexcept
    : before_(detail::current_executor()), trampoline_(forks) {
    detail::current_executor() = &ex;
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE executor_use::executor_use(executor* ex, executor_user kind) noexcept
    : executor_(ex), kind_(kind) {
    if (ex != nullptr) ex->users_.join(kind);
}

WEIR_INLINE executor_use::~executor_use() {
    if (executor_ != nullptr) executor_->users_.leave(kind_);
}

WEIR_INLINE void check_threads_of(const executor& ex) {
    if (ex.orphaned()) throw forked_error();
}

WEIR_INLINE void check_threads_of(const executor* ex) {
    if (ex != nullptr && was_forked()) check_threads_of(*ex);
}

}  // namespace weir::detail

#endif
