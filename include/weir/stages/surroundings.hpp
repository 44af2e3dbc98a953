// weir stages, internal: what goes around an invocation where somebody asked for it: hooks, a time limit
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SURROUNDINGS_HPP
#define WEIR_STAGES_SURROUNDINGS_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_context.hpp>
#include <weir/stages/time_limit.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <string>     // for std::string

namespace weir::detail {

// Of one invocation. Made only where there is something to do: most stages have neither hooks nor a limit,
// nor a function that takes the `invocation`.
class surroundings {
  public:
    // It begins, unless `error` says that it can't: there is no memory for its limit, or a hook threw.
    surroundings(const run_context& run, const std::string& stage, std::uint64_t item, std::uint64_t epoch,
                 std::size_t slot, duration limit, executor& ex, std::exception_ptr& error) noexcept
        : run_(run), call_(stage, item, epoch, slot, run.ends()) {
        try {
            if (limit > duration(0)) {
                limit_.emplace(ex, limit, run.ends());
                call_ = invocation(stage, item, epoch, slot, limit_->token());
            }
            while (entered_ < run_.hooks().size()) {
                run_.hooks()[entered_]->before(call_);
                ++entered_;
            }
        } catch (...) {
            error = std::current_exception();
        }
    }
    surroundings(const surroundings&) = delete;
    surroundings& operator=(const surroundings&) = delete;

    const invocation& call() const noexcept { return call_; }
    // If it has one, that is to be awaited `off()` when the function has ended, and judges then.
    bool has_limit() const noexcept { return limit_.has_value(); }
    limited& limit() noexcept { return *limit_; }

    // It has ended: those hooks that heard of its beginning hear of it, the last one first, and may fail it.
    void end(std::exception_ptr& error) noexcept {
        while (entered_ > 0) {
            try {
                run_.hooks()[--entered_]->after(call_, error);
            } catch (...) {
                if (!error) error = std::current_exception();
            }
        }
    }

  private:
    const run_context& run_;
    invocation call_;
    std::optional<limited> limit_;
    std::size_t entered_ = 0;  // hooks
};

}  // namespace weir::detail

#endif
