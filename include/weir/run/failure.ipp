// weir run, internal: bodies of the functions of run/failure.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_FAILURE_IPP
#define WEIR_RUN_FAILURE_IPP

#include <weir/run/failure.hpp>

#include <weir/platform/config.hpp>

#include <mutex>     // for std::lock_guard
#include <new>       // for std::bad_alloc
#include <optional>  // for std::optional

namespace weir {

WEIR_INLINE std::string pipeline_failure::describe(const std::vector<failure>& failures) {
    const auto describe_one = [](const failure& f, const char* verb) {
        const bool is_callback =
            f.where.line() == 0 && (f.stage == "on_lap" || f.stage == "on_end" || f.stage == "on_failure");
        if (is_callback) return f.stage + verb + ": " + f.message();
        return "stage '" + f.stage + "'" + detail::place_behind(f.where) + verb + " on item " +
               std::to_string(f.item) + ": " + f.message();
    };
    std::string text = "weir: " + describe_one(failures.front(), " failed");
    for (std::size_t i = 1; i < failures.size(); ++i) text += "; also " + describe_one(failures[i], "");
    return detail::without_controls(text);
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE void print_failure(std::string_view run, const pipeline_failure& error) noexcept {
    try {
        std::fprintf(stderr, "weir: the run '%s' failed, and was destroyed before anybody asked: %s\n",
                     detail::without_controls(run).c_str(), error.what());
    } catch (const std::bad_alloc&) {
        std::fputs("weir: a run failed, and nobody asked; memory lacks to say how\n", stderr);
    }
}

WEIR_INLINE bool failure_counter::count_failure(entry failed) noexcept {
    entry before;  // declared before `guard`, so that a user's exception is destroyed without the lock
    const std::lock_guard guard(lock_);
    ++failures_;
    const bool on_probation = ++invocations_ < failure_limit::probation;
    if (is_rate() && on_probation) before = std::exchange(last_, std::move(failed));
    return limit_.exceeded(failures_, invocations_);
}

WEIR_INLINE bool failure_counter::count_success() noexcept {
    const std::lock_guard guard(lock_);
    ++invocations_;
    return invocations_ == failure_limit::probation && limit_.exceeded(failures_, invocations_);
}

WEIR_INLINE auto failure_counter::last_failure() noexcept -> entry {
    const std::lock_guard guard(lock_);
    return last_;
}

WEIR_INLINE void failure_record::add(failure f, bool reported) noexcept {
    std::string stage;
    try {
        stage = f.stage;
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): reports then miss the name
    }
    const std::lock_guard guard(lock_);
    is_unreported_ = is_unreported_ || !reported;
    if (!is_thrown_ && failures_.empty()) first_stage_.swap(stage);
    if (!is_thrown_ && failures_.size() < most) failures_.push_back(std::move(f));
}

WEIR_INLINE bool failure_record::has_failed() const noexcept {
    const std::lock_guard guard(lock_);
    return is_thrown_ || !failures_.empty();
}

WEIR_INLINE void failure_record::throw_once() {
    std::vector<failure> failures;
    {
        const std::lock_guard guard(lock_);
        if (failures_.empty()) return;
        failures.swap(failures_);
        is_thrown_ = true;
    }
    std::optional<pipeline_failure> whole;
    try {
        whole.emplace(failures);
    } catch (...) {
        const std::lock_guard guard(lock_);
        failures.swap(failures_);
        is_thrown_ = false;
        throw;
    }
    try {
        std::rethrow_exception(failures.front().error);
    } catch (...) {
        throw nesting_failure(*std::move(whole));
    }
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE failure_sink set_failure_sink(failure_sink sink) noexcept {
    return detail::the_failure_sink.replace(sink);
}

}  // namespace weir

#endif
