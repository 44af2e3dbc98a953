// weir asio: `on`, with which a coroutine of weir awaits a coroutine of Asio
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_NATIVE_AWAITABLE_HPP
#define WEIR_ASIO_NATIVE_AWAITABLE_HPP

#include <weir/asio/awaiting.hpp>
#include <weir/asio/io_executor.hpp>
#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/awaitable.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstdint>      // for std::int64_t
#include <optional>     // for std::optional
#include <stdexcept>    // for std::logic_error
#include <type_traits>  // for std::is_constructible_v
#include <utility>      // for std::move

namespace weir::asio::inline WEIR_ASIO_KIND {

/// Runs a coroutine of Asio on `where`, for a coroutine of weir that runs on another executor:
///
///     const auto answer = co_await weir::asio::on(io, ask(socket));
///
/// If this header is included, `co_await ask(socket)` works without `on` in coroutines of weir on an
/// `io_executor`, and in those that a coroutine of Asio awaits by `awaited`, the counterpart of `on`
/// (asio/awaited.hpp). The function of a stage (a step of a pipeline) on an `io_executor` may also return an
/// `asio::awaitable`.
///
/// \param where  an `io_context`, an `io_executor`, or an executor of Asio, such as a strand.
/// \returns  an awaitable, to be awaited in the same expression, of the coroutine's result.
/// Suspends: until the coroutine has ended. Resumes: the awaiting coroutine on its own executor.
/// Errors:   the exceptions of the coroutine. Without `on`, `std::logic_error` if the awaiting coroutine's
///           executor doesn't run on Asio.
/// Stops:    as with `awaiting`, a stop of the run of the awaiting stage cancels the coroutine, by all types
///           of Asio's cancellation. If the coroutine then ends by `operation_aborted`, the await throws
///           `stopped`.
/// Lifetime: the context outlives the wait.
/// Cost:     that of `asio::co_spawn` and of `awaiting`. Asio requires a default-constructible result type.
/// Needs Asio's own coroutines: with clang, Asio 1.22 has them only if `ASIO_HAS_CO_AWAIT` is defined.
template <class Where, class T, class Executor>
[[nodiscard("co_await this, or the coroutine doesn't begin")]] auto on(
    Where&& where, lib::awaitable<T, Executor> coroutine) {
    if constexpr (requires { where.context().get_executor(); }) {
        return lib::co_spawn(where.context().get_executor(), std::move(coroutine), awaiting);
    } else {
        return lib::co_spawn(where, std::move(coroutine), awaiting);
    }
}

namespace detail {

// The executor of Asio for coroutines of Asio that a coroutine on `ex` awaits. Errors: std::logic_error if
// `ex` doesn't run on Asio.
inline const lib::any_io_executor& native_executor_of(executor& ex) {
    const void* const native = ex.lasting().runs_on(&this_library);
    if (native != nullptr) return *static_cast<const lib::any_io_executor*>(native);
    throw std::logic_error(
        "weir: an asio::awaitable is awaited by a coroutine whose executor is none of Asio's, so that it has "
        "nowhere to run: say where, co_await weir::asio::on(io, it), or give the stage an "
        "weir::asio::io_executor");
}

// The awaitable of a coroutine of Asio that is awaited without `on`.
template <class T, class Executor>
class [[nodiscard("co_await this, or the coroutine doesn't begin")]] spawning {
    // Holds the awaitable that `co_spawn` returns, which can't be moved.
    class spawned {
      public:
        spawned(const Executor& where, lib::awaitable<T, Executor>&& coroutine)
            : it(lib::co_spawn(where, std::move(coroutine), awaiting)) {}
        decltype(lib::co_spawn(std::declval<const Executor&>(), std::declval<lib::awaitable<T, Executor>>(),
                               awaiting)) it;
    };

  public:
    explicit spawning(lib::awaitable<T, Executor>&& coroutine) noexcept : coroutine_(std::move(coroutine)) {}
    spawning(const spawning&) = delete;
    spawning& operator=(const spawning&) = delete;
    ~spawning() = default;

    bool await_ready() const noexcept { return false; }
    // Resumes on the executor of the coroutine `h`. The completion handler of Asio's coroutine posts `h`.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        executor& ex = weir::detail::executor_of(weir::detail::env_of(h));
        spawned_.emplace(Executor(native_executor_of(ex)), std::move(coroutine_));
        return spawned_->it.await_suspend(h);
    }
    T await_resume() { return spawned_->it.await_resume(); }
    // For the times of a stage's slot (worker): when the coroutine had ended, in ns; 0: unknown.
    std::int64_t ready_at() const noexcept { return spawned_->it.ready_at(); }

  private:
    lib::awaitable<T, Executor> coroutine_;
    std::optional<spawned> spawned_;
};

}  // namespace detail

}  // namespace weir::asio::inline WEIR_ASIO_KIND

template <class T, class Executor>
struct weir::detail::awaited_by_adapter<WEIR_ASIO_LIBRARY::awaitable<T, Executor>> {
    template <class A>
    static auto get_awaiter(A&& coroutine) {
        namespace lib = weir::asio::lib;
        static_assert(!std::is_reference_v<A>,
                      "weir: an asio::awaitable with a name gives its result away: co_await std::move(it)");
        static_assert(std::is_constructible_v<Executor, const lib::any_io_executor&>,
                      "weir: this asio::awaitable runs on one kind of executor only, and which one is not "
                      "known here: co_await weir::asio::on(executor, it)");
        return weir::asio::detail::spawning<T, Executor>(std::move(coroutine));
    }
};

#endif
