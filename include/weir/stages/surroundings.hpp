// weir stages, internal: what goes around an invocation where somebody asked for it: hooks, a time limit
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SURROUNDINGS_HPP
#define WEIR_STAGES_SURROUNDINGS_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/time_limit.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

// Of one invocation. Made only where there is something to do: most stages have neither hooks nor a limit,
// nor a function that takes the `invocation`.
class surroundings {
  public:
    // It begins, unless `error` says that it can't: there is no memory for its limit, or a hook threw.
    surroundings(const std::vector<shared_hook>& hooks, const stop_token& run_ends, const std::string& stage,
                 std::uint64_t item, std::uint64_t epoch, std::size_t slot, const any_item& input,
                 duration limit, coroutine_env& env, std::exception_ptr& error) noexcept
        : hooks_(hooks), call_(stage, item, epoch, slot, run_ends) {
        try {
            if (limit > duration(0)) {
                limit_.emplace(env, limit, run_ends);
                call_ = invocation(stage, item, epoch, slot, limit_->token());
            }
            call_.input_ = input;
            while (entered_ < hooks_.size()) {
                hooks_[entered_]->before(call_);
                ++entered_;
            }
        } catch (...) {
            error = std::current_exception();
        }
        call_.input_ = any_item();  // the function is given it away
    }
    surroundings(const surroundings&) = delete;
    surroundings& operator=(const surroundings&) = delete;

    const invocation& call() const noexcept { return call_; }
    // If it has one, that is to be awaited `off()` when the function has ended, and judges then.
    bool has_limit() const noexcept { return limit_.has_value(); }
    limited& limit() noexcept { return *limit_; }

    // It has ended: those hooks that heard of its beginning hear of it, the last one first, and may fail it.
    void end(const any_item& output, std::exception_ptr& error) noexcept {
        call_.output_ = output;
        while (entered_ > 0) {
            try {
                hooks_[--entered_]->after(call_, error);
            } catch (...) {
                if (!error) error = std::current_exception();
            }
        }
    }

  private:
    const std::vector<shared_hook>& hooks_;
    invocation call_;
    std::optional<limited> limit_;
    std::size_t entered_ = 0;  // hooks
};

}  // namespace weir::detail

#endif
