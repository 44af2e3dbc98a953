// SPDX-License-Identifier: BSL-1.0
// What the canaries are made of: a coroutine type whose frames are counted, awaitables that really
// suspend, and a type that notices whether each of its objects is destroyed exactly once. Nothing of
// weir: a canary shows what the compiler does. Few includes: the run over all of them has to be short.
#pragma once
#include <stdio.h>
#include <stdlib.h>

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace canary {

// --- What is counted

// Addresses and counts only, outside of every object: no optimization of a dead object touches them.
struct books {
    const void* alive[256];
    int num_alive;
    int born;
    int died;
    int unknown;  // destroyed, or used, at an address at which none was alive
    int frames;
};
inline books the_books{};

inline void enter(const void* p) {
    if (the_books.num_alive == 256) abort();
    the_books.alive[the_books.num_alive++] = p;
    ++the_books.born;
}

inline bool is_alive(const void* p) {
    for (int i = 0; i < the_books.num_alive; ++i)
        if (the_books.alive[i] == p) return true;
    return false;
}

inline void leave(const void* p) {
    ++the_books.died;
    for (int i = 0; i < the_books.num_alive; ++i)
        if (the_books.alive[i] == p) {
            the_books.alive[i] = the_books.alive[--the_books.num_alive];
            return;
        }
    ++the_books.unknown;
}

// Its constructors and its destructor keep the books.
class tracked {
  public:
    tracked() : tracked(0) {}
    explicit tracked(int value) : value_(value) { enter(this); }
    tracked(const tracked& other) : value_(other.value_) { enter(this); }
    tracked(tracked&& other) noexcept : value_(std::exchange(other.value_, -1)) { enter(this); }
    tracked& operator=(const tracked&) = default;
    tracked& operator=(tracked&& other) noexcept {
        value_ = std::exchange(other.value_, -1);
        return *this;
    }
    ~tracked() { leave(this); }
    int value() const {
        if (!is_alive(this)) ++the_books.unknown;
        return value_;
    }

  private:
    int value_;
};

// --- What runs coroutines

inline std::coroutine_handle<> ready[64];
inline unsigned first_ready = 0, end_ready = 0;

inline void post(std::coroutine_handle<> h) { ready[end_ready++ % 64] = h; }

inline void run_ready() {
    while (first_ready != end_ready) ready[first_ready++ % 64].resume();
}

// Frames that are counted.
struct counted_frame {
    static void* operator new(size_t size) {
        ++the_books.frames;
        return malloc(size);
    }
    static void operator delete(void* p) {
        --the_books.frames;
        free(p);
    }
};

struct turn {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const { post(h); }
    void await_resume() const noexcept {}
};

// Suspends once, then gives its value.
template <class T>
class later {
  public:
    explicit later(T value) : value_(std::move(value)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) { post(h); }
    T await_resume() { return std::move(value_); }

  private:
    T value_;
};

// Gives its value without suspending.
template <class T>
class at_once {
  public:
    explicit at_once(T value) : value_(std::move(value)) {}
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) {}
    T await_resume() { return std::move(value_); }

  private:
    T value_;
};

inline later<bool> yes() { return later<bool>(true); }
inline later<bool> no() { return later<bool>(false); }
inline later<int> number(int n) { return later<int>(n); }
inline later<tracked> thing(int n) { return later<tracked>(tracked(n)); }

// Lazy, and resumed by symmetric transfer.
template <class T>
class [[nodiscard]] task {
  public:
    struct promise_type : counted_frame {
        struct final_awaiter {
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(
                std::coroutine_handle<promise_type> h) const noexcept {
                return h.promise().waiter;
            }
            void await_resume() const noexcept {}
        };
        task get_return_object() {
            return task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        final_awaiter final_suspend() const noexcept { return {}; }
        template <class U>
        void return_value(U&& value) {
            result.emplace(std::forward<U>(value));
        }
        void return_value(T value) { result.emplace(std::move(value)); }
        void unhandled_exception() noexcept { failure = std::current_exception(); }

        std::coroutine_handle<> waiter = std::noop_coroutine();
        std::optional<T> result;
        std::exception_ptr failure;
    };

    explicit task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    ~task() {
        if (frame_) frame_.destroy();
    }

    std::coroutine_handle<promise_type> frame() const { return frame_; }
    T result() {
        auto& p = frame_.promise();
        if (p.failure) std::rethrow_exception(p.failure);
        return std::move(*p.result);
    }

    class awaiter {
      public:
        explicit awaiter(task& of) : of_(of) {}
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) {
            of_.frame_.promise().waiter = h;
            return of_.frame_;
        }
        T await_resume() { return of_.result(); }

      private:
        task& of_;
    };
    awaiter operator co_await() && { return awaiter(*this); }

  private:
    std::coroutine_handle<promise_type> frame_;
};

// --- The judge

[[noreturn]] inline void say(const char* verdict) {
    puts(verdict);
    fflush(stdout);
    _Exit(0);
}

// What the books say once everything is over.
[[noreturn]] inline void close_books(bool as_expected) {
    if (the_books.unknown) say(the_books.born == the_books.died ? "moved" : "double");
    if (the_books.num_alive || the_books.frames) say("leak");
    say(as_expected ? "ok" : "wrong");
}

// Runs a canary to its end, and says how it went.
[[noreturn]] inline void judge(task<bool> (*run)()) {
    bool as_expected = false;
    {
        task<bool> whole = run();
        whole.frame().resume();
        run_ready();
        if (!whole.frame().done()) say("hang");
        as_expected = whole.result();
    }
    close_books(as_expected);
}

[[noreturn]] inline void judge(bool (*run)()) {
    const bool as_expected = run();
    close_books(as_expected);
}

}  // namespace canary

using namespace canary;
