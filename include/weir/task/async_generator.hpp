// weir task: async_generator: a coroutine that yields values, and may await between them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_ASYNC_GENERATOR_HPP
#define WEIR_TASK_ASYNC_GENERATOR_HPP

#include <weir/platform/env.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/task.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::addressof
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_object_v
#include <utility>      // for std::exchange

namespace weir {

/// A coroutine that `co_yield`s values, and may `co_await` in between. The body only runs while `next` is
/// awaited.
///
///     while (auto x = co_await lines.next()) use(*x);
///
/// Resumes:  the coroutine that awaits `next`: at once if the generator yields or ends on a thread of an
///           executor, and has not moved to another executor by `co_await schedule(other)`; else by a post to
///           the awaiting coroutine's executor.
/// Errors:   an exception of the body is rethrown by the current `next`; the generator has ended then.
/// Threads:  one `next` at a time.
/// Lifetime: the object owns the coroutine, and may be destroyed between two calls of `next`. Objects to
///           which parameters refer outlive the generator. So does a lambda with captures whose body is the
///           coroutine.
/// Cost:     one allocation for the frame; a value is moved once, from the `co_yield` to the caller, and an
///           lvalue is copied before that. Nested generators that are destroyed between two calls of `next`
///           take stack for each level.
template <class T>
class [[nodiscard("await next(), or nothing of it runs")]] async_generator {
    static_assert(std::is_object_v<T>, "weir: async_generator gives values; for references yield pointers");

  public:
    class promise_type;
    using value_type = T;

    /// An empty generator, which has ended.
    async_generator() noexcept = default;
    ~async_generator() {
        if (handle_) promise_type::destroy(handle_);
    }
    async_generator(async_generator&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    async_generator& operator=(async_generator&& other) noexcept {
        if (this != &other) {
            if (handle_) promise_type::destroy(handle_);
            handle_ = std::exchange(other.handle_, {});
        }
        return *this;
    }

    /// \returns awaitable of `optional<T>`: empty once the coroutine has ended, and for an empty generator.
    /// Suspends: unless the coroutine has ended or the generator is empty.
    auto next() noexcept { return next_operation(handle_); }

    /// Rejects a plain range-for loop, which can't await, at compile time.
    template <class Item = T>
    detail::not_an_iterator<T> begin() const {
        static_assert(std::is_void_v<Item>,
                      "weir: a plain loop can't wait for an async_generator; in a coroutine write "
                      "while (auto x = co_await generator.next())");
        return {};
    }
    detail::not_an_iterator<T> end() const { return {}; }

  private:
    using handle = std::coroutine_handle<promise_type>;

    explicit async_generator(handle h) noexcept : handle_(h) {}

    class [[nodiscard("co_await this, or nothing happens")]] next_operation {
      public:
        // Tags. `updates_slot_itself`: an await in the function of a stage changes no state of the slot (the
        // stage's worker), because the generator's body counts as a part of that function. `moves_item`:
        // `when_any`, which could lose the value, rejects the operation.
        using updates_slot_itself = void;
        using moves_item = void;
        explicit next_operation(handle& generator) noexcept : handle_(&generator) {}
        bool await_ready() const noexcept { return !*handle_ || handle_->done(); }
        // Resumes when the generator has yielded or ended; where: see `async_generator`.
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) const noexcept {
            handle_->promise().awaited_by(h, handle_);
            return detail::trampoline::transfer(*handle_);
        }
        std::optional<T> await_resume() const {
            if (!*handle_) return std::nullopt;
            promise_type& p = handle_->promise();
            p.awaiter_resumed();
            if (std::exception_ptr error = std::exchange(p.error, nullptr)) {
                std::rethrow_exception(std::move(error));
            }
            T* const value = std::exchange(p.value, nullptr);
            if (value == nullptr) return std::nullopt;
            return std::optional<T>(std::move(*value));
        }

      private:
        handle* handle_;
    };

    handle handle_;
};

template <class T>
class async_generator<T>::promise_type final : public detail::task_promise_base {
    static_assert(detail::fits_a_frame<T>());

  public:
    async_generator get_return_object() noexcept { return async_generator(handle::from_promise(*this)); }
    final_awaiter yield_value(T&& v) noexcept {
        value = std::addressof(v);
        return {};
    }
    auto yield_value(const T& v) {
        static_assert(std::is_copy_constructible_v<T>,
                      "weir: co_yield copies what has a name, and this type can't be copied; "
                      "co_yield std::move(it)");
        class yield_copy {  // holds a copy of the yielded lvalue
          public:
            explicit yield_copy(const T& from) : copy_(from) {}
            yield_copy(const yield_copy&) = delete;
            yield_copy& operator=(const yield_copy&) = delete;
            bool await_ready() const noexcept { return false; }
            // The generator resumes when `next` is awaited again, on the thread that awaits.
            std::coroutine_handle<> await_suspend(handle h) noexcept {
                h.promise().value = &copy_;
                return final_awaiter().await_suspend(h);
            }
            void await_resume() const noexcept {}

          private:
            T copy_;
        };
        return yield_copy(v);
    }
    template <class U>
        requires(!std::is_convertible_v<U, T &&> && !std::is_convertible_v<U, const T&>)
    std::suspend_never yield_value(U&&) const noexcept {
        static_assert(std::is_convertible_v<U, T>,
                      "weir: an async_generator<T> co_yields a T, or what becomes one by itself, and this is "
                      "neither");
        return {};
    }
    void unhandled_exception() noexcept { error = std::current_exception(); }
    void return_void() noexcept {}

    T* value = nullptr;  // yielded, in the suspended frame; null: `next` has taken it, or there is none
    std::exception_ptr error;
};

}  // namespace weir

#endif
