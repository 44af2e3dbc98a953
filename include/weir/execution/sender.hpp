// weir execution: senders and awaitables, both ways: `co_await sender`, and `as_sender`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_SENDER_HPP
#define WEIR_EXECUTION_SENDER_HPP

#include <weir/execution/scheduler.hpp>
#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/external_wait.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <concepts>      // for std::convertible_to, std::invocable
#include <coroutine>     // for std::coroutine_handle
#include <cstdint>       // for std::int64_t
#include <exception>     // for std::exception_ptr
#include <optional>      // for std::optional
#include <system_error>  // for std::error_code, std::system_error
#include <tuple>         // for std::tuple
#include <type_traits>   // for std::decay_t, std::is_reference_v
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

// `number`: the number of different tuples of values with which a sender may complete. `type`: the tuple, if
// there is exactly one; else an empty tuple.
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

// The result of a sender, and the receiver that stores the result. Lies in the frame of the awaiting
// coroutine.
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
            at_->answer();  // another thread may have destroyed the frame when this returns
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
    // sender has completed when `start` returns, the coroutine continues at once.
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
    // For the times of a stage's slot (worker): when the sender completed, in ns; 0: unknown.
    std::int64_t ready_at() const noexcept { return operation_->at.ready_at(); }

  private:
    Sender&& sender_;
    std::optional<operation> operation_;
};

// A sender that `co_await` accepts only by this header: it has no `as_awaitable` and no operator co_await,
// and is no awaiter.
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

namespace weir::execution {

namespace detail {

// The sender of an awaitable. `connect` needs an rvalue, as `connect` moves the awaitable.
template <class A>
class [[nodiscard("connect and start this, or nothing of it runs")]] awaitable_sender {
  public:
    using sender_concept = lib::sender_t;
    using completion_signatures = typename signatures<A, result_of_t<A>>::type;

    awaitable_sender(A awaited, executor* on) : awaited_(std::move(awaited)), on_(on) {}

    template <class Receiver>
    [[nodiscard]] auto connect(Receiver receiver) && {
        return coroutine_operation<A, Receiver>(std::move(awaited_), on_, std::move(receiver));
    }

  private:
    A awaited_;
    executor* on_;
};

// Calls the function when the sender is started, so that the returned awaitable need not be movable.
template <class Function>
auto await_result_of(Function function) -> task<result_of_t<std::invoke_result_t<Function&>>> {
    co_return co_await function();
}

template <class A>
auto make_sender(A awaited, executor* on) {
    static_assert(
        !std::is_reference_v<result_of_t<A>>,
        "weir: a sender gives values, and awaiting this gives a reference: await it in a weir::task "
        "that returns a pointer, or a copy");
    return awaitable_sender<A>(std::move(awaited), on);
}

template <class Function>
concept gives_awaitable = std::invocable<Function&> && awaitable<std::invoke_result_t<Function&>>;

template <class A>
auto make_sender_of(A&& a, executor* on) {
    using kept = std::remove_cvref_t<A>;
    if constexpr (awaitable<kept> && std::is_move_constructible_v<kept> && std::constructible_from<kept, A>) {
        return detail::make_sender<kept>(std::forward<A>(a), on);
    } else if constexpr (gives_awaitable<kept>) {
        return detail::make_sender(detail::await_result_of<kept>(std::forward<A>(a)), on);
    } else {
        static_assert(
            awaitable<kept> && std::is_move_constructible_v<kept>,
            "weir: as_sender needs what can be awaited and moved, as a task, or a function that gives "
            "what can be awaited: as_sender([&] { return channel.get(); })");
    }
}

}  // namespace detail

/// Makes a sender of an awaitable: of a task or another movable awaitable, or of a function that returns an
/// awaitable. The function is called when the sender is started.
///
///     auto work = weir::execution::as_sender(pool, load(file)) | stdexec::then(show);
///     auto next = weir::execution::as_sender([&] { return run.next(); });
///
/// \returns  a sender that can be connected once, as an rvalue. It completes with the result of `co_await`,
///           or with a `std::exception_ptr`.
/// Threads:  runs and completes on the executor of weir to which the starting thread belongs. If the thread
///           belongs to none, on the thread of weir that coroutines of other libraries share: see Resumes of
///           `channel`.
/// Stops:    a stop request of the receiver's stop token acts as a stop of a run (a started pipeline): a wait
///           for a sleep, a channel or Asio ends, and the sender completes as stopped. If the awaited
///           operation was done before the request, such as a get that has an item, the sender completes with
///           its result. A request that `stdexec::stop_when` passes on acts so, too. A race of senders
///           (`exec::when_any`) drops the results of the losers: to race operations that move items, use
///           `select` in one sender.
/// Errors:   the exceptions of `co_await`; `forked_error` if only the parent process has the threads of the
///           executor.
/// Lifetime: the executor, and the objects to which a function refers, outlive the operation.
/// Cost:     one allocation when the sender is connected, in addition to those of the task.
template <class A>
[[nodiscard("connect and start this, or nothing of it runs")]] auto as_sender(A&& awaited) {
    return detail::make_sender_of(std::forward<A>(awaited), nullptr);
}

/// The same as `as_sender` above, on the executor `on`, whichever thread starts the sender.
/// Lifetime: `on` outlives the operation.
template <class A>
[[nodiscard("connect and start this, or nothing of it runs")]] auto as_sender(executor& on, A&& awaited) {
    return detail::make_sender_of(std::forward<A>(awaited), &on);
}

}  // namespace weir::execution

#endif
