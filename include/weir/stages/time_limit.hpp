// weir stages: how long one invocation may take
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TIME_LIMIT_HPP
#define WEIR_STAGES_TIME_LIMIT_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/delayed_action.hpp>
#include <weir/task/stop_token.hpp>

#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <stdexcept>  // for std::runtime_error
#include <string>     // for std::string
#include <utility>    // for std::move

namespace weir {

/// An invocation took longer than its stage's `time_limit`. If the function threw after it was asked to
/// stop, that exception is nested, unless it is `stopped`.
class time_limit_exceeded : public std::runtime_error {
  public:
    /// \param limit  the stage's.
    explicit time_limit_exceeded(duration limit)
        : std::runtime_error("weir: an invocation took longer than its stage's time limit of " +
                             std::to_string(limit.count()) + " ns"),
          limit_(limit) {}

    [[nodiscard]] duration limit() const noexcept { return limit_; }  ///< the stage's

  private:
    duration limit_;
};

namespace detail {

// Watches one invocation: asks it to stop when its time is over, or the run's, and says afterwards
// whether its time was. `env`: of the worker; until this is destroyed, its awaits end with that stop.
class limited {
  public:
    limited(coroutine_env& env, duration limit, stop_token run_ends)
        : env_(env), outer_(env.ends), executor_(*env.executor), limit_(limit),
          deadline_(saturating_add(executor_.now(), limit)), on_end_(std::move(run_ends), pass_on{&stop_}),
          delayed_(executor_, limit, expire{this}) {
        env.ends = &ends_;
    }
    limited(const limited&) = delete;
    limited& operator=(const limited&) = delete;
    ~limited() { env_.ends = outer_; }

    const stop_token& token() const noexcept { return token_; }

    // To be awaited when the invocation has ended.
    auto off() noexcept {
        late_ = executor_.now() > deadline_;
        return delayed_.off();
    }

    // What came late is nothing.
    template <class T>
    void judge(std::optional<T>& value, std::exception_ptr& error) const noexcept {
        if (!late_ && !expired_) return;
        value.reset();
        try {
            if (!error) throw time_limit_exceeded(limit_);
            try {
                std::rethrow_exception(error);
            } catch (const stopped&) {
                throw time_limit_exceeded(limit_);
            } catch (...) {
                std::throw_with_nested(time_limit_exceeded(limit_));
            }
        } catch (...) {
            error = std::current_exception();
        }
    }

  private:
    struct pass_on {
        const stop_source* stop;
        void operator()() const noexcept { stop->request_stop(); }
    };
    struct expire {
        limited* invocation;
        void operator()() const noexcept {
            invocation->expired_ = true;  // read when the action is called off
            invocation->stop_.request_stop();
        }
    };

    coroutine_env& env_;
    const end_token* const outer_;
    executor& executor_;
    const duration limit_;
    const time_point deadline_;
    bool late_ = false;
    bool expired_ = false;
    const stop_source stop_;
    const stop_token token_{stop_.get_token()};
    const end_token ends_{&token_, detail::whose_work(outer_)};
    stop_callback<pass_on> on_end_;
    delayed_action<expire> delayed_;
};

}  // namespace detail

}  // namespace weir

#endif
