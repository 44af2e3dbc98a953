// weir task: what can be awaited, and what awaiting it gives
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_AWAITABLE_HPP
#define WEIR_TASK_AWAITABLE_HPP

#include <weir/task/foreign_awaitable_adapter.hpp>

#include <concepts>     // for std::convertible_to
#include <type_traits>  // for std::is_copy_constructible_v
#include <utility>      // for std::forward

namespace weir {

/// Has the functions that `co_await` calls. `await_suspend` isn't asked for: it may be a template
/// over the promise, with constraints that nobody meets but the promise for which it was written.
template <class A>
concept awaiter = requires(A& a) {
    { a.await_ready() } -> std::convertible_to<bool>;
    a.await_resume();
};

namespace detail {

template <class A>
concept has_member_co_await = requires(A&& a) { std::forward<A>(a).operator co_await(); };

template <class A>
concept has_free_co_await = requires(A&& a) { operator co_await(std::forward<A>(a)); };

// Specialised by the headers for another library, for what of it neither `co_await` nor `as_awaitable` makes
// sense of in a coroutine of ours: `get_awaiter(a)` then gives the awaiter, and goes before all else.
template <class A>
struct awaited_by_adapter {};

template <class A>
concept has_adapter =
    requires(A&& a) { awaited_by_adapter<std::remove_cvref_t<A>>::get_awaiter(std::forward<A>(a)); };

// Takes an item from somewhere or gives one away, so that nobody may drop its result.
template <class A>
inline constexpr bool moves_item = requires { typename A::moves_item; };

// What is kept of a result longer than its awaiter: not a reference to what is to be moved from, which as a
// rule is a part of that.
template <class T>
using lasting_t = std::conditional_t<std::is_rvalue_reference_v<T>, std::remove_cvref_t<T>, T>;

// What `co_await a` calls the three functions on: a new object, or `a` itself.
template <class A>
decltype(auto) get_awaiter(A&& a) {
    if constexpr (has_adapter<A>) {
        return awaited_by_adapter<std::remove_cvref_t<A>>::get_awaiter(std::forward<A>(a));
    } else if constexpr (has_as_awaitable<A>) {
        using given = decltype(detail::get_awaiter(std::declval<made_awaitable_t<A>>()).await_resume());
        return crossing<lasting_t<given>, A>(std::forward<A>(a));
    } else if constexpr (has_member_co_await<A>) {
        return std::forward<A>(a).operator co_await();
    } else if constexpr (has_free_co_await<A>) {
        return operator co_await(std::forward<A>(a));
    } else {
        return std::forward<A>(a);
    }
}

// What `begin` and `end` give where a plain loop can't wait: enough for it to get to the sentence in `begin`.
// No iterator, so that nothing takes it for a range.
template <class T>
class no_place {
  public:
    std::conditional_t<std::is_copy_constructible_v<T>, T&, T&&> operator*() const;
    void operator++() const;
    bool operator!=(no_place) const;
};

}  // namespace detail

/// Can stand behind `co_await` in any coroutine whose promise doesn't forbid it.
///
/// Also, in those of this library: what has a member `as_awaitable(promise)`, as the senders of
/// `std::execution` may, which goes before all else. Whoever completes it, and wherever: the coroutine
/// goes on once, on its own executor. One that completes as stopped throws `std::system_error` with
/// `std::errc::operation_canceled`.
///
/// Any other awaiter goes on with the coroutine where it likes, as on a thread of a driver. The coroutine is
/// there until it waits for something of this library, of which `co_await weir::yield()` is the shortest:
/// from then on it is on its own executor again, also where it doesn't know which that is. From a thread that
/// runs no executor, whoever awaits a `task` or an `async_generator`, and each stage, is back at its end.
///
/// A coroutine of another library that runs on no executor awaits whatever is the library's: where it has to
/// wait it is resumed as a `channel` would resume it.
template <class A>
concept awaitable = detail::has_adapter<A> || detail::has_as_awaitable<A> || detail::has_member_co_await<A> ||
                    detail::has_free_co_await<A> || awaiter<A>;

/// The type of `co_await std::declval<A>()`.
template <awaitable A>
using await_result_t = decltype(detail::get_awaiter(std::declval<A>()).await_resume());

}  // namespace weir

#endif
