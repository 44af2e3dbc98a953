// weir execution: makes each sender of std::execution awaitable in coroutines of weir: `co_await sender`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_AWAITED_SENDER_HPP
#define WEIR_EXECUTION_AWAITED_SENDER_HPP

#include <weir/execution/scheduler.hpp>
#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/external_wait.hpp>
#include <weir/task/stop_token.hpp>

#include <concepts>      // for std::convertible_to
#include <coroutine>     // for std::coroutine_handle
#include <cstdint>       // for std::int64_t
#include <exception>     // for std::exception_ptr
#include <optional>      // for std::optional
#include <system_error>  // for std::error_code, std::system_error
#include <tuple>         // for std::tuple
#include <type_traits>   // for std::decay_t
#include <utility>       // for std::forward, std::move

namespace weir::execution::detail {

// The environment of the receiver: the stop token and the scheduler of the awaiting coroutine.
class awaiting_env {
  public:
    awaiting_env(executor& ex, const weir::detail::end_token* ends) noexcept : executor_(&ex), ends_(ends) {}
    [[nodiscard]] stop_token query(lib::get_stop_token_t) const noexcept {
        return ends_ != nullptr ? *ends_->stop : stop_token();
    }
    [[nodiscard]] scheduler query(lib::get_scheduler_t) const noexcept { return scheduler(*executor_); }

  private:
    executor* executor_;
    const weir::detail::end_token* ends_;
};

template <class... Ts>
using values_t = std::tuple<std::decay_t<Ts>...>;

// The tuple of values, if the sender completes with one kind of values.
template <class... Alternatives>
struct only_one {
    static constexpr std::size_t number = sizeof...(Alternatives);
    using type = std::tuple<>;
};
template <class One>
struct only_one<One> {
    static constexpr std::size_t number = 1;
    using type = One;
};

template <class Error>
std::exception_ptr as_exception(Error&& error) {
    if constexpr (std::convertible_to<Error, std::exception_ptr>) {
        return std::forward<Error>(error);
    } else if constexpr (std::convertible_to<Error, std::error_code>) {
        return std::make_exception_ptr(std::system_error(std::error_code(std::forward<Error>(error))));
    } else {
        return std::make_exception_ptr(std::forward<Error>(error));
    }
}

// The result of a sender, and the receiver that stores it. In the frame of the awaiting coroutine.
template <class Values>
class completion : public weir::detail::async_completion {
  public:
    completion(executor& ex, const weir::detail::coroutine_env& env, std::coroutine_handle<> h)
        : async_completion(ex, env.measured, h), executor_(&ex), ends_(env.ends) {}

    class receiver {
      public:
        using receiver_concept = lib::receiver_t;
        explicit receiver(completion& at) noexcept : at_(&at) {}

        template <class... Ts>
        void set_value(Ts&&... values) noexcept {
            try {
                at_->values_.emplace(std::forward<Ts>(values)...);
            } catch (...) {
                at_->error_ = std::current_exception();
            }
            at_->answer();  // may have destroyed the frame
        }
        template <class Error>
        void set_error(Error&& error) noexcept {
            at_->error_ = detail::as_exception(std::forward<Error>(error));
            at_->answer();
        }
        void set_stopped() noexcept { at_->answer(); }

        [[nodiscard]] awaiting_env get_env() const noexcept { return {*at_->executor_, at_->ends_}; }

      private:
        completion* at_;
    };

    Values take() {
        if (error_) std::rethrow_exception(error_);
        if (values_) return *std::move(values_);
        if (ends_ != nullptr && ends_->stop->stop_requested()) throw stopped();
        throw weir::detail::sender_stopped_error();
    }

  private:
    executor* executor_;
    const weir::detail::end_token* ends_;
    std::optional<Values> values_;
    std::exception_ptr error_;
};

template <class Sender>
class [[nodiscard("co_await this, or nothing happens")]] sender_awaiter {
    using alternatives = lib::value_types_of_t<Sender, awaiting_env, values_t, only_one>;
    static_assert(alternatives::number <= 1,
                  "weir: this sender completes with one of several kinds of values, and co_await gives one: "
                  "await stdexec::into_variant(sender)");
    using values = typename alternatives::type;

    class operation {
      public:
        operation(Sender&& sender, executor& ex, const weir::detail::coroutine_env& env,
                  std::coroutine_handle<> h)
            : at(ex, env, h),
              state(lib::connect(std::forward<Sender>(sender), typename completion<values>::receiver(at))) {}
        completion<values> at;
        lib::connect_result_t<Sender, typename completion<values>::receiver> state;
    };

  public:
    explicit sender_awaiter(Sender&& sender) noexcept : sender_(std::forward<Sender>(sender)) {}
    sender_awaiter(const sender_awaiter&) = delete;
    sender_awaiter& operator=(const sender_awaiter&) = delete;
    ~sender_awaiter() = default;

    bool await_ready() const noexcept { return false; }
    // Resumes on the coroutine's executor: the thread that completes the sender posts the coroutine. If the
    // sender completes within `start`, the coroutine continues at once.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        const weir::detail::coroutine_env env = weir::detail::env_of(h);
        operation_.emplace(std::forward<Sender>(sender_), weir::detail::executor_of(env), env, h);
        lib::start(operation_->state);
        return operation_->at.wait();
    }
    auto await_resume() {
        if constexpr (std::tuple_size_v<values> == 0) {
            static_cast<void>(operation_->at.take());
        } else if constexpr (std::tuple_size_v<values> == 1) {
            return std::get<0>(operation_->at.take());
        } else {
            return operation_->at.take();
        }
    }
    std::int64_t ready_at() const noexcept { return operation_->at.ready_at(); }

  private:
    Sender&& sender_;
    std::optional<operation> operation_;
};

// A sender that is no awaitable of its own. Others are awaited in their own way.
template <class S>
concept sends_only =
    lib::sender<S> && !weir::detail::has_as_awaitable<S> && !weir::detail::has_member_co_await<S> &&
    !weir::detail::has_free_co_await<S> && !awaiter<S>;

}  // namespace weir::execution::detail

template <weir::execution::detail::sends_only Sender>
struct weir::detail::awaited_by_adapter<Sender> {
    template <class S>
    static auto get_awaiter(S&& sender) {
        return weir::execution::detail::sender_awaiter<S>(std::forward<S>(sender));
    }
};

#endif
