// weir task: awaits the first of many to end, and has the others end
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_WHEN_ANY_HPP
#define WEIR_TASK_WHEN_ANY_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/when_all.hpp>
#include <weir/task/when_any_join.hpp>

#include <coroutine>    // for std::coroutine_handle, std::suspend_never
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::integral_constant, std::is_move_constructible_v
#include <utility>      // for std::forward, std::index_sequence, std::pair
#include <variant>      // for std::variant
#include <vector>       // for std::vector

namespace weir {

/// What `when_any` gives: `First`, the result of the first to end, and what the others gave.
template <class First, class Others>
class when_any_result : public First {
  public:
    /// Of both, which are moved in.
    when_any_result(First&& result, Others&& rest) : First(std::move(result)), others(std::move(rest)) {}

    /// In the order of the arguments, each an `optional`: the result of one that ended after the first, and
    /// threw nothing; empty at the place of the first, and of one that was stopped, which throws `stopped`.
    Others others;
};

namespace detail {

template <class... As>
inline constexpr bool moves_item<when_all_tuple<As...>> = (moves_item<std::remove_cvref_t<As>> || ...);

// One of the awaitables, in a coroutine around it. What can't be moved into it stays where it is.
template <class A>
class when_any_part final : detached_task_owner {
    static_assert(
        !moves_item<std::remove_cvref_t<A>>,
        "weir: when_any doesn't take an operation that moves an item, as it would drop the item of "
        "one that ends as the others do: select(on_get(a), on_put(b, item), after(10ms)) does exactly "
        "one of several; get_for(10ms) and put_for(item, 10ms) wait for some time; what a task gives "
        "that isn't the first to end is in `others` of the result");
    static_assert(
        std::is_reference_v<A> || is_task<A> || !std::is_lvalue_reference_v<await_result_t<A>>,
        "weir: when_any would give a reference that may be into an awaitable that is gone by then: "
        "give the awaitable a name that outlives the result, and that to when_any; or await it in a "
        "task that gives a value");
    using kept = std::conditional_t<std::is_move_constructible_v<A>, A, A&&>;

  public:
    using value = in_vector<non_void<joined_result_t<A>>>;

    explicit when_any_part(A&& a)
        : awaitable_(std::forward<A>(a)),
          detached_task_(detail::make_detached_task<await_result_t<A>, kept>(awaitable_)) {
        if constexpr (is_task<A>) joining<typename A::value_type>(awaitable_).check_valid();
    }

    void start(when_any_join& join, std::size_t index, executor& ex, const end_token& ends) noexcept {
        join_ = &join;
        index_ = index;
        detached_task_.start(ex, nullptr, *this, &ends);
    }
    void check_valid() const {
        if (join_ != nullptr) detail::refuse_task();
    }
    void* release_one() noexcept { return detail::release_frame(awaitable_); }
    decltype(auto) take() { return detached_task_.take(); }
    // What one gave that wasn't the first to end; `first`: whether it was.
    std::optional<value> take_late(bool first) {
        if (first || detached_task_.has_exception()) return std::nullopt;
        return std::optional<value>(detail::take_non_void(*this));
    }

  private:
    void ended() noexcept override { join_->ended(index_); }

    kept awaitable_;
    detached_task<await_result_t<A>> detached_task_;
    when_any_join* join_ = nullptr;
    std::size_t index_ = 0;
};

template <class... As>
class when_any_tuple {
    using first_of = std::variant<typename when_any_part<As>::value...>;
    using result = when_any_result<first_of, std::tuple<std::optional<typename when_any_part<As>::value>...>>;
    static constexpr std::index_sequence_for<As...> all{};

  public:
    explicit when_any_tuple(As&&... parts) : parts_(std::forward<As>(parts)...) {}
    when_any_tuple(const when_any_tuple&) = delete;
    when_any_tuple& operator=(const when_any_tuple&) = delete;

    bool await_ready() const {
        std::get<0>(parts_).check_valid();
        return false;
    }
    // Resumes on the awaiter's executor, when the last part has ended.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return join_.start(h, [this](executor& ex, const end_token& ends) {
            std::apply([&, i = std::size_t{0}](
                           auto&... parts) mutable { (parts.start(join_, i++, ex, ends), ...); },
                       parts_);
        });
    }
    std::int64_t ready_at() const noexcept { return join_.ready_at(); }
    void* release_one() noexcept { return detail::release_part(parts_); }
    result await_resume() { return take(join_.first(), all); }

  private:
    template <std::size_t... Index>
    result take(std::size_t first, std::index_sequence<Index...>) {
        std::optional<first_of> r;
        static_cast<void>((
            (Index == first &&
             (r.emplace(std::in_place_index<Index>, detail::take_non_void(std::get<Index>(parts_))), true)) ||
            ...));
        return result(*std::move(r), {std::get<Index>(parts_).take_late(Index == first)...});
    }

    when_any_join join_{sizeof...(As)};
    std::tuple<when_any_part<As>...> parts_;
};

template <class A>
class when_any_vector {
    using value = typename when_any_part<A>::value;

  public:
    explicit when_any_vector(std::vector<A>&& parts) : join_(parts.size()) {
        if (parts.empty()) {
            throw std::invalid_argument(
                "weir: when_any of an empty vector would never end; give it one awaitable at least");
        }
        parts_.reserve(parts.size());  // no part moves after this
        for (A& part : parts) parts_.emplace_back(std::move(part));
    }
    when_any_vector(const when_any_vector&) = delete;
    when_any_vector& operator=(const when_any_vector&) = delete;

    bool await_ready() const {
        parts_.front().check_valid();
        return false;
    }
    // Resumes as above.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return join_.start(h, [this](executor& ex, const end_token& ends) {
            for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].start(join_, i, ex, ends);
        });
    }
    std::int64_t ready_at() const noexcept { return join_.ready_at(); }
    void* release_one() noexcept { return detail::release_part(parts_); }
    auto await_resume() {
        const std::size_t first = join_.first();
        if constexpr (std::is_void_v<await_result_t<A>>) {
            parts_[first].take();
            return first;
        } else {
            std::pair<std::size_t, value> it(first, parts_[first].take());
            std::vector<std::optional<value>> others;
            others.reserve(parts_.size());
            for (auto& part : parts_) others.push_back(part.take_late(&part == &parts_[first]));
            return when_any_result(std::move(it), std::move(others));
        }
    }

  private:
    when_any_join join_;
    std::vector<when_any_part<A>> parts_;
};

}  // namespace detail

/// Runs all of its arguments until the first has ended, has the others stop, and waits until they have ended,
/// too: none of them outlives the await.
///
/// \returns  awaitable of a `when_any_result`, which is a `std::variant` of the results, in the order of the
///           arguments: `index()` says which was the first to end (`std::monostate` for void;
///           `std::reference_wrapper` for a reference). Its member `others` has the results of those that
///           ended later and threw nothing, as a task that had got an item when it was told to stop.
///           An operation that moves an item by itself, as `channel.get()`, `put_for` or `next()`, is
///           rejected at compile time: `select` does exactly one of several, `get_for` waits for some time.
/// Suspends: always.
/// Resumes:  on the awaiter's executor, when the last has ended; one of another library that runs on none
///           where a `channel` would resume it, and there the parts run, too.
/// Order:    they are posted in the order of the arguments. Each is started, also if one has ended by then.
/// Stops:    the others as a stage's function is stopped whose run is: what they await of sleeps, channels
///           and, by our adapter, Asio ends at once by `stopped`, which unwinds them; who awaits none of
///           these is waited for. Where the run is stopped in whose stage all this is awaited, all of them
///           are told so, too.
/// Errors:   of the first to end, when all have: what the others gave is destroyed then. What the others
///           throw is dropped. `std::logic_error` for a task with nothing to await, at once, and from a
///           second await.
/// Lifetime: as of `when_all`.
/// Cost:     one allocation for each part, and one.
template <awaitable... As>
    requires(sizeof...(As) != 0)
[[nodiscard("co_await this, or nothing of it runs")]] auto when_any(As&&... parts) {
    return detail::when_any_tuple<As...>(std::forward<As>(parts)...);
}

/// The same for any number of awaitables of one type.
/// \returns  awaitable of a `when_any_result`, which is a `std::pair` of the index of the first to end and
///           its result, and has a vector as `others`; where there is no result, of the index alone, a
///           `std::size_t`.
/// Errors:   `std::invalid_argument` for an empty vector, at once.
template <awaitable A>
[[nodiscard("co_await this, or nothing of it runs")]] auto when_any(std::vector<A>&& parts) {
    return detail::when_any_vector<A>(std::move(parts));
}

/// The same with copies of them.
template <detail::copyable_awaitables V>
[[nodiscard("co_await this, or nothing of it runs")]] auto when_any(const V& parts) {
    return detail::when_any_vector<typename V::value_type>(V(parts));
}

/// Rejects what is not an awaitable, and nothing at all, at compile time.
template <class... As>
    requires(sizeof...(As) == 0 ||
             (!(awaitable<As> && ...) && !(detail::copyable_awaitables<std::remove_cvref_t<As>> && ...)))
auto when_any(As&&...) {
    static_assert(sizeof...(As) != 0,
                  "weir: when_any of nothing would never end; give it one awaitable at least");
    static_assert(
        (awaitable<As> && ...),
        "weir: when_any needs awaitables, or a vector of them; an argument is none. If it is a "
        "coroutine function, call it; if it is a task with a name, or a vector of tasks, it gives its "
        "results away: when_any(std::move(it))");
    return std::suspend_never();
}

}  // namespace weir

// So that `auto [index, value]` takes that of a vector apart.
template <class First, class Second, class Others>
struct std::tuple_size<weir::when_any_result<std::pair<First, Second>, Others>>
    : std::integral_constant<std::size_t, 2> {};
template <std::size_t Index, class First, class Second, class Others>
struct std::tuple_element<Index, weir::when_any_result<std::pair<First, Second>, Others>>
    : std::tuple_element<Index, std::pair<First, Second>> {};

#endif
