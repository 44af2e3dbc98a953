// weir asio: `awaited`, with which a coroutine of Asio awaits tasks, channels and runs of weir
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_AWAITED_HPP
#define WEIR_ASIO_AWAITED_HPP

#include <weir/asio/io_executor.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <memory>       // for std::make_shared, std::unique_ptr
#include <mutex>        // for std::mutex
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_move_constructible_v
#include <utility>      // for std::exchange, std::forward, std::move
#include <vector>       // for std::vector

#if !defined(ASIO_HAS_CO_AWAIT) && !defined(BOOST_ASIO_HAS_CO_AWAIT)
static_assert(
    false,
    "weir: weir::asio::awaited needs Asio's coroutines: define ASIO_HAS_CO_AWAIT, or use a later Asio");
#else

namespace weir::asio::inline WEIR_ASIO_KIND {

namespace detail {

// Runs the coroutines of weir that one coroutine of Asio awaits, on that coroutine's executor of Asio. The
// trait `passing` tells that a channel that was used here may outlive this object. Such a channel measures by
// the clock of the base class: so this class doesn't override `executor::now`.
class guest_executor final : public executor {
  public:
    explicit guest_executor(lib::any_io_executor on)
        : executor({.passing = true}), on_(std::move(on)), timers_(std::make_shared<io_timers>(*this, on_)) {}

    // Resumes `h` at once. Called on a thread of Asio's executor.
    void begin(std::coroutine_handle<> h) { resume(h); }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override {
        const lib::any_io_executor on = on_;  // a copy: once posted, `h` may end and destroy this executor
        lib::post(on, [this, h] { resume(h); });
    }
    void add(timer& t) noexcept override { timers_->add(t); }
    void cancel(timer& t) noexcept override {
        if (timers_) timers_->cancel(t);
    }
    // Returns false, so that the caller sleeps: this object can't tell which threads run Asio's executor.
    bool drive(flag&, time_point) override { return false; }

    // Drops what refers to Asio's context, which is being destroyed. Coroutines that wait on this executor
    // are destroyed without being resumed, perhaps after this call; they may still cancel timers.
    void retire() noexcept {
        timers_.reset();
        on_ = lib::any_io_executor();
    }

    // Lets a task here await Asio's coroutines (asio/native_awaitable.hpp): gives them this executor of Asio.
    const void* runs_on(const void* library) const noexcept override {
        return library == &this_library ? &on_ : nullptr;
    }

  private:
    lib::any_io_executor on_;
    std::shared_ptr<io_timers> timers_;
};

// A wait of a coroutine of Asio. The wait owns Asio's completion handler, which owns the waiting coroutine,
// in whose frame the wait lies.
class guest_wait_base {
  public:
    guest_wait_base(const guest_wait_base&) = delete;
    guest_wait_base& operator=(const guest_wait_base&) = delete;

    // Destroys the handler, and so the waiting coroutine with the wait in its frame, in this call or later.
    virtual void abandon() noexcept = 0;

    // Links of the list in `guest_waits`.
    guest_wait_base* next = nullptr;
    guest_wait_base** link = nullptr;

  protected:
    guest_wait_base() = default;
    ~guest_wait_base() = default;
};

// The waits on one execution context of Asio, whose destructor ends the waits, as it ends pending operations.
class guest_waits final : public lib::execution_context::service {
  public:
    static inline lib::execution_context::id id;  // Asio requires it of a service

    explicit guest_waits(lib::execution_context& of) : service(of) {}

    void begin(guest_wait_base& it) noexcept {  // adds a wait to the list
        const std::lock_guard guard(lock_);
        it.next = first_;
        it.link = &first_;
        if (first_ != nullptr) first_->link = &it.next;
        first_ = &it;
    }
    void end(guest_wait_base& it) noexcept {  // removes it
        const std::lock_guard guard(lock_);
        *it.link = it.next;
        if (it.next != nullptr) it.next->link = it.link;
    }

    // Keeps the executor of an abandoned wait, because coroutines that refer to this executor are destroyed
    // after the wait. Called within the context's destructor.
    void keep(std::unique_ptr<guest_executor> guest) {
        guest->retire();
        retired_.push_back(std::move(guest));
    }

  private:
    // Abandons all waits. Called by the context's destructor, when no thread runs the context any more.
    void shutdown() override {
        for (guest_wait_base* it = std::exchange(first_, nullptr); it != nullptr;) {
            guest_wait_base& each = *std::exchange(it, it->next);
            each.abandon();
        }
    }

    std::mutex lock_;
    guest_wait_base* first_ = nullptr;                      // the list of waits
    std::vector<std::unique_ptr<guest_executor>> retired_;  // see keep()
};

// The wait of a coroutine of Asio for an awaitable of type A, whose result is a T.
template <class T, class A, class Executor>
class guest_wait final : guest_wait_base, weir::detail::detached_task_owner {
    using token = lib::use_awaitable_t<Executor>;
    using handler = typename lib::async_result<token, void()>::handler_type;

    // Called by Asio with the completion handler `then`: begins the wait.
    class initiation {
      public:
        explicit initiation(guest_wait& it) noexcept : it_(&it) {}
        void operator()(handler then) const { it_->begin(std::move(then)); }

      private:
        guest_wait* it_;
    };

  public:
    guest_wait(const Executor& home, A& awaited)
        : home_(home), waits_(&lib::use_service<guest_waits>(lib::query(home_, lib::execution::context))),
          guest_(std::make_unique<guest_executor>(home)), token_(stop_.get_token()),
          task_(weir::detail::make_detached_task<T, A>(awaited)) {}
    guest_wait(const guest_wait&) = delete;
    guest_wait& operator=(const guest_wait&) = delete;
    ~guest_wait() {
        if (is_dropped_) waits_->keep(std::move(guest_));
    }

    // Resumes on Asio's executor, when the awaited operation has ended.
    auto wait() { return lib::async_initiate<const token, void()>(initiation(*this), token()); }

    // Returns the result of the task. After a cancellation, throws Asio's error instead of `stopped`.
    T take() {
        try {
            return task_.take();
        } catch (const stopped&) {
            throw lib::system_error(make_error_code(lib::error::operation_aborted));
        }
    }

  private:
    // Starts the task. A cancellation of the waiting coroutine requests its stop.
    void begin(handler then) {
        lib::cancellation_slot slot = lib::get_associated_cancellation_slot(then);
        if (slot.is_connected()) slot.assign([this](lib::cancellation_type) { stop_.request_stop(); });
        then_.emplace(std::move(then));
        waits_->begin(*this);
        guest_->begin(task_.prepare(*guest_, nullptr, *this, &ends_));  // may have destroyed this wait
    }

    // Called on any thread. Posts the handler, because the coroutine that has ended is still on the stack.
    void ended() noexcept override {
        waits_->end(*this);
        handler then = std::move(*then_);
        const Executor home = home_;
        lib::post(home, std::move(then));
    }

    void abandon() noexcept override {
        is_dropped_ = true;
        const handler dropped = std::move(*then_);
    }

    Executor home_;  // that of the waiting coroutine
    guest_waits* waits_;
    std::unique_ptr<guest_executor> guest_;  // the executor of `task_`
    bool is_dropped_ = false;                // `abandon` was called
    stop_source stop_;
    const stop_token token_;
    const weir::detail::end_token ends_{&token_};  // ends the waits of `task_` when a stop is requested
    std::optional<handler> then_;                  // resumes the waiting coroutine
    weir::detail::detached_task<T> task_;
};

// The result of `awaited`: a coroutine of Asio that waits for the awaitable of weir.
template <class T, class A, class Executor>
lib::awaitable<T, Executor> await_as_guest(A a) {
    const Executor home = co_await lib::this_coro::executor;
    guest_wait<T, A, Executor> it(home, a);
    co_await it.wait();
    co_return it.take();
}

// The type in which an awaitable is kept until it is awaited: a reference if the awaitable is an lvalue or
// can't be moved.
template <class A>
using kept_t = std::conditional_t<!std::is_reference_v<A> && std::is_move_constructible_v<A>, A, A&&>;

// The type of `awaited(a)` if `a` moves an item. Asio's `||` would drop the item if `a` ends second, so `||`
// is rejected at compile time for this type.
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
/// \returns  `asio::awaitable` of the result of `co_await a`, which must not be a reference. `a` begins when
///           the `asio::awaitable` is awaited, or is passed to `asio::co_spawn`.
/// Suspends: until `a` has ended. Resumes: on the coroutine's executor of Asio. A task runs on this executor,
///           too, and its sleeps are timers of Asio.
/// Errors:   what `co_await a` throws. A task that blocks its thread, as by `sync_wait`, waits for ever if no
///           other thread runs the context.
/// Stops:    each type of cancellation of the coroutine requests `a` to end, as the stop of a run does.
///           Sleeps, channels and operations of Asio then throw `stopped`, which becomes Asio's
///           `system_error` with `operation_aborted`. An operation that already has an item returns it.
///           Asio's `||` drops the second of two results: so `||` rejects an operation that moves an item at
///           compile time, and a task in `||` should not return an item.
/// Lifetime: if the context is destroyed during the wait, the context destroys the coroutine and the awaited
///           task; meanwhile no other thread may resume the task. An rvalue `a` that is movable, such as a
///           task, is kept; any other `a`, such as an operation of a channel, has to be awaited in the same
///           expression.
/// Cost:     about six allocations, most of them Asio's.
/// Needs Asio's own coroutines: with clang, Asio 1.22 has them only if `ASIO_HAS_CO_AWAIT` is defined.
template <class Executor = lib::any_io_executor, awaitable A>
[[nodiscard("co_await this, or nothing is awaited")]] auto awaited(A&& a) {
    using given = weir::detail::stored_result_t<await_result_t<A>>;
    static_assert(!std::is_reference_v<given>,
                  "weir: an asio::awaitable gives values, and awaiting this gives a reference: await it in a "
                  "weir::task that returns a pointer, or a copy");
    if constexpr (weir::detail::moves_item<std::remove_cvref_t<A>>) {
        return detail::item_awaitable(
            detail::await_as_guest<given, detail::kept_t<A>, Executor>(std::forward<A>(a)));
    } else {
        return detail::await_as_guest<given, detail::kept_t<A>, Executor>(std::forward<A>(a));
    }
}
/// Rejects at compile time an argument that can't be awaited.
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
#endif
