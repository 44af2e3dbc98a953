// weir asio: coroutines of Asio await awaitables of weir
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_AWAITED_HPP
#define WEIR_ASIO_AWAITED_HPP

#include <weir/asio/guest_executor.hpp>
#include <weir/asio/library.hpp>
#include <weir/asio/visits.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/stop_token.hpp>

#include <memory>       // for std::unique_ptr
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_move_constructible_v
#include <utility>      // for std::forward, std::move

namespace weir::asio::inline WEIR_ASIO_KIND {

namespace detail {

// One wait of a coroutine of Asio for an awaitable of weir. Lies in the frame of that coroutine.
template <class T, class A, class Executor>
class visit final : visit_base, weir::detail::detached_task_owner {
    using token = lib::use_awaitable_t<Executor>;
    using handler = typename lib::async_result<token, void()>::handler_type;

    class beginning {
      public:
        explicit beginning(visit& it) noexcept : it_(&it) {}
        void operator()(handler then) const { it_->begin(std::move(then)); }

      private:
        visit* it_;
    };

  public:
    visit(const Executor& home, A& awaited)
        : home_(home), all_(&lib::use_service<visits>(lib::query(home_, lib::execution::context))),
          guest_(std::make_unique<guest_executor>(home)), token_(stop_.get_token()),
          root_(weir::detail::make_detached_task<T, A>(awaited)) {}
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() {
        if (is_dropped_) all_->keep(std::move(guest_));
    }

    // Resumes on Asio's executor, when the awaited operation has ended.
    auto wait() { return lib::async_initiate<const token, void()>(beginning(*this), token()); }

    T take() {
        try {
            return root_.take();
        } catch (const stopped&) {
            throw lib::system_error(make_error_code(lib::error::operation_aborted));
        }
    }

  private:
    void begin(handler then) {
        lib::cancellation_slot slot = lib::get_associated_cancellation_slot(then);
        if (slot.is_connected()) slot.assign([this](lib::cancellation_type) { stop_.request_stop(); });
        then_.emplace(std::move(then));
        all_->begin(*this);
        guest_->begin(root_.prepare(*guest_, nullptr, *this, &ends_));  // this may be gone from here on
    }

    // Called on any thread. Posts the handler, because the coroutine that has ended is still on the stack.
    void ended() noexcept override {
        all_->end(*this);
        handler then = std::move(*then_);
        const Executor home = home_;
        lib::post(home, std::move(then));
    }

    void abandon() noexcept override {
        is_dropped_ = true;
        const handler dropped = std::move(*then_);
    }

    Executor home_;
    visits* all_;
    std::unique_ptr<guest_executor> guest_;
    bool is_dropped_ = false;
    stop_source stop_;
    const stop_token token_;
    const weir::detail::end_token ends_{&token_};
    std::optional<handler> then_;
    weir::detail::detached_task<T> root_;
};

template <class T, class A, class Executor>
lib::awaitable<T, Executor> visiting(A a) {
    const Executor home = co_await lib::this_coro::executor;
    visit<T, A, Executor> it(home, a);
    co_await it.wait();
    co_return it.take();
}

// The type by which an awaitable is kept until it is awaited: a reference to an lvalue, and to an object that
// can't be moved.
template <class A>
using kept_t = std::conditional_t<!std::is_reference_v<A> && std::is_move_constructible_v<A>, A, A&&>;

// Awaits an operation that moves an item. `||` would drop the item if the operation ends second.
template <class T, class Executor>
class item_awaitable : public lib::awaitable<T, Executor> {
  public:
    explicit item_awaitable(lib::awaitable<T, Executor>&& it) noexcept
        : lib::awaitable<T, Executor>(std::move(it)) {}
};
template <class A>
inline constexpr bool is_item_awaitable = false;
template <class T, class Executor>
inline constexpr bool is_item_awaitable<item_awaitable<T, Executor>> = true;

template <class A, class B>
    requires(is_item_awaitable<std::remove_cvref_t<A>> || is_item_awaitable<std::remove_cvref_t<B>>)
auto operator||(A&&, B&&) {
    static_assert(
        std::is_void_v<A>,
        "weir: || drops the item of an operation that ends second: await "
        "awaited(channel.get_for(10ms)), or awaited(select(on_get(a), on_put(b, item), after(10ms))), "
        "which does exactly one of several");
}

}  // namespace detail

/// Makes an awaitable of weir awaitable in a coroutine of Asio, which accepts only awaitables of Asio:
///
///     asio::awaitable<void> session(weir::channel<frame>& frames) {
///         while (auto f = co_await weir::asio::awaited(frames.get())) co_await send(*std::move(f));
///     }
///
/// The awaitable may be a task, an operation of a channel, a run's `next()`, a sleep, or `when_all`.
///
/// \returns  `asio::awaitable` of the result of `co_await a`, which must not be a reference. It begins when
///           it is awaited, or is passed to `asio::co_spawn`, with any completion token.
/// Suspends: until `a` has ended. Resumes: on the coroutine's executor of Asio. A task runs on this executor,
///           too, and its sleeps are timers of Asio.
/// Errors:   what `co_await a` throws.
/// Stops:    each type of cancellation of the coroutine asks `a` to end, as the stop of a run does. Sleeps,
///           channels and operations of Asio then throw `stopped`, which becomes Asio's `system_error` with
///           `operation_aborted`. An operation that already has an item returns it. Asio's `||` drops the
///           result that comes second: so an operation that moves an item is rejected there at compile time,
///           and a task in `||` should not return an item.
/// Lifetime: a context that is destroyed first destroys the coroutine and the task that it awaits. Meanwhile
///           no other thread may resume the task. A movable `a`, such as a task, is kept; any other, such as
///           an operation of a channel, has to be awaited in the same expression.
/// Cost:     about six allocations, most of them Asio's.
/// Needs Asio's own coroutines: with clang, Asio 1.22 has them where `ASIO_HAS_CO_AWAIT` is defined only.
template <class Executor = lib::any_io_executor, awaitable A>
[[nodiscard("co_await this, or nothing is awaited")]] auto awaited(A&& a) {
    using given = weir::detail::stored_result_t<await_result_t<A>>;
    static_assert(!std::is_reference_v<given>,
                  "weir: an asio::awaitable gives values, and awaiting this gives a reference: await it in a "
                  "weir::task that returns a pointer, or a copy");
    if constexpr (weir::detail::moves_item<std::remove_cvref_t<A>>) {
        return detail::item_awaitable(
            detail::visiting<given, detail::kept_t<A>, Executor>(std::forward<A>(a)));
    } else {
        return detail::visiting<given, detail::kept_t<A>, Executor>(std::forward<A>(a));
    }
}
/// Rejects what can't be awaited at compile time.
template <class Executor = lib::any_io_executor, class A>
    requires(!awaitable<A>)
auto awaited(A&&) {
    static_assert(awaitable<A>,
                  "weir: weir::asio::awaited needs something that a coroutine of weir can await; this is "
                  "nothing of the kind. If it is a coroutine function, call it; if it is a task with a name, "
                  "move it: weir::asio::awaited(std::move(it))");
}

}  // namespace weir::asio::inline WEIR_ASIO_KIND

#endif
