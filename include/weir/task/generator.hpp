// weir task: generator: a coroutine that yields values one by one to a plain loop
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_GENERATOR_HPP
#define WEIR_TASK_GENERATOR_HPP

#include <weir/task/frame_pool.hpp>

#include <concepts>     // for std::copy_constructible
#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::ptrdiff_t
#include <exception>    // for std::exception_ptr
#include <iterator>     // for std::default_sentinel_t
#include <memory>       // for std::addressof
#include <string_view>  // for std::ranges::enable_view; <ranges> is heavier
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::exchange

namespace weir {

/// A synchronous coroutine as a range: each increment of the iterator runs the body up to the next
/// `co_yield`, on the thread of the consumer.
///
///     weir::generator<int> count(int n) {
///         for (int i = 0; i < n; ++i) co_yield i;
///     }
///
///     for (int i : count(3)) use(i);
///
/// If T is an object type, `*iterator` is a `T&&` to the yielded object, so that an item can be moved out of
/// the range. A yielded lvalue is copied first: the consumer gets the copy. If T is a reference type,
/// `*iterator` is that reference. A yielded rvalue is neither copied nor moved.
///
/// An input range and a view: single-pass, move-only. The body can't `co_await`: see `async_generator`.
///
/// Errors:   `begin()` and `++` throw the exceptions of the body; the range is at its end afterwards.
/// Threads:  one at a time.
/// Lifetime: objects that the body takes by reference outlive the generator, and so does a lambda with
///           captures whose body is the coroutine. The result of `*` is valid until the next `++`.
/// Cost:     one allocation, for the frame. Nested generators take stack for each level, in `++` and when
///           they are destroyed.
/// Source:   std::generator (P2502), without recursive yields and allocators.
template <class T>
class [[nodiscard("a generator does nothing until it is iterated")]] generator {
    static_assert(!std::is_void_v<T>,
                  "weir: generator<void> has nothing to yield; say what it yields, as in "
                  "generator<int>");
    static_assert(std::is_void_v<T> || std::is_reference_v<T> || std::is_object_v<T>,
                  "weir: a generator yields objects or references to them");

    using value = std::remove_cvref_t<T>;
    using reference = std::conditional_t<std::is_reference_v<T>, T, std::add_rvalue_reference_t<T>>;
    using stored = std::add_pointer_t<reference>;  // points to the yielded object

  public:
    class promise_type;
    class iterator;

    generator() noexcept = default;
    generator(generator&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    generator& operator=(generator other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~generator() {
        if (frame_) frame_.destroy();
    }

    /// Runs the body up to its first item. A later call returns an iterator at the current item.
    [[nodiscard]] iterator begin() {
        if (frame_ && !frame_.promise().started_) advance(frame_);
        return iterator(frame_);
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  private:
    using handle = std::coroutine_handle<promise_type>;

    explicit generator(handle frame) noexcept : frame_(frame) {}

    static void advance(handle frame) {  // runs the body to its next value or its end
        frame.promise().started_ = true;
        frame.resume();
        if (frame.promise().error_) {
            std::rethrow_exception(std::exchange(frame.promise().error_, nullptr));
        }
    }

    handle frame_;
};

template <class T>
class generator<T>::promise_type : public detail::pooled_frame {
    static_assert(detail::fits_a_frame<value>());
    friend generator;
    friend iterator;

    // Holds the copy of a yielded lvalue until the consumer increments the iterator.
    class copied {
        value copy_;
        stored& place_;  // the `item_` of the promise

      public:
        copied(const value& item, stored& place) : copy_(item), place_(place) {}
        copied(const copied&) = delete;
        copied& operator=(const copied&) = delete;
        bool await_ready() const noexcept { return false; }
        // Resumes on the thread that increments the iterator.
        void await_suspend(std::coroutine_handle<>) noexcept { place_ = std::addressof(copy_); }
        void await_resume() const noexcept {}
    };

    stored item_ = nullptr;  // the yielded object, or the copy
    std::exception_ptr error_;
    bool started_ = false;

  public:
    promise_type() noexcept = default;

    generator get_return_object() noexcept { return generator(handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { error_ = std::current_exception(); }

    // A yielded temporary lives in the coroutine's frame until the coroutine is resumed.
    std::suspend_always yield_value(reference object) noexcept {
        item_ = std::addressof(object);
        return {};
    }
    copied yield_value(const std::remove_reference_t<reference>& object)
        requires std::is_rvalue_reference_v<reference>
    {
        static_assert(std::copy_constructible<value>,
                      "weir: co_yield copies what has a name, and this type can't be copied; "
                      "co_yield std::move(it)");
        return copied(object, item_);
    }

    template <class U>
        requires(!std::is_convertible_v<U, reference> &&
                 !(std::is_rvalue_reference_v<reference> && std::is_convertible_v<U, const value&>))
    std::suspend_never yield_value(U&&) const noexcept {
        static_assert(
            std::is_convertible_v<U, reference>,
            "weir: a generator<T> co_yields a T, or what becomes one by itself, and a generator<T&> "
            "what has a name and is a T; this is neither");
        return {};
    }

    template <class Awaitable>
    std::suspend_never await_transform(Awaitable&&) const noexcept {
        static_assert(std::is_void_v<Awaitable>,
                      "weir: a generator can't co_await, since its consumer is a plain loop that "
                      "can't wait; write an async_generator");
        return {};
    }
};

/// An input iterator. Doesn't own the coroutine, which belongs to the generator.
template <class T>
class generator<T>::iterator {
  public:
    using value_type = value;
    using difference_type = std::ptrdiff_t;

    iterator(iterator&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    iterator& operator=(iterator&& other) noexcept {
        frame_ = std::exchange(other.frame_, nullptr);
        return *this;
    }

    [[nodiscard]] reference operator*() const noexcept {
        return static_cast<reference>(*frame_.promise().item_);
    }
    iterator& operator++() {
        advance(frame_);
        return *this;
    }
    void operator++(int) { ++*this; }

    [[nodiscard]] friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
        return !at.frame_ || at.frame_.done();
    }

  private:
    friend generator;
    explicit iterator(handle frame) noexcept : frame_(frame) {}

    handle frame_;
};

}  // namespace weir

template <class T>
inline constexpr bool std::ranges::enable_view<weir::generator<T>> = true;

#endif
