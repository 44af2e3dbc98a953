// Stand-ins for other libraries: coroutines with promises of their own, and senders.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_INTEROP_STAND_INS_HPP
#define WEIR_TESTS_INTEROP_STAND_INS_HPP

#include <weir/executor/executor.hpp>

#include <concepts>
#include <condition_variable>
#include <coroutine>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace stand_ins {

// A coroutine that runs at once and is nobody's.
class bare {
  public:
    class promise_type {
      public:
        bare get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

template <class A>
decltype(auto) awaiter_of(A&& a) {
    if constexpr (requires { std::forward<A>(a).operator co_await(); }) {
        return std::forward<A>(a).operator co_await();
    } else {
        return std::forward<A>(a);
    }
}

// Stands between an awaitable and the coroutine, as the await_transform of most libraries has it.
template <class A>
class passed_on {
  public:
    explicit passed_on(A&& a) : inner_(awaiter_of(std::forward<A>(a))) {}
    passed_on(const passed_on&) = delete;
    passed_on& operator=(const passed_on&) = delete;

    bool await_ready() { return inner_.await_ready(); }
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> h) {
        return inner_.await_suspend(h);
    }
    decltype(auto) await_resume() { return inner_.await_resume(); }

  private:
    decltype(awaiter_of(std::declval<A>())) inner_;
};

class transforming {
  public:
    class promise_type {
      public:
        transforming get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        template <class A>
        passed_on<A> await_transform(A&& a) {
            return passed_on<A>(std::forward<A>(a));
        }
    };
};

// A coroutine that belongs to the executor that it is given, and says so.
class of_an_executor {
  public:
    class promise_type {
      public:
        explicit promise_type(weir::executor& home) noexcept : executor_(&home) {}
        template <class Function>  // of a lambda g++ gives the lambda, too
        promise_type(const Function&, weir::executor& home) noexcept : executor_(&home) {}
        of_an_executor get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        weir::executor& weir_executor() const noexcept { return *executor_; }

      private:
        weir::executor* executor_;
    };
};

// One thread that resumes what it is given, as the run_loop of std::execution does.
class thread_scheduler {
  public:
    thread_scheduler() : thread_([this] { run(); }) {}
    thread_scheduler(const thread_scheduler&) = delete;
    thread_scheduler& operator=(const thread_scheduler&) = delete;
    ~thread_scheduler() {
        resume({});
        thread_.join();
    }
    void resume(std::coroutine_handle<> h) {
        const std::lock_guard guard(lock_);
        given_.push_back(h);
        some_.notify_one();
    }
    std::thread::id thread() const { return thread_.get_id(); }

  private:
    void run() {
        while (true) {
            std::unique_lock lock(lock_);
            some_.wait(lock, [this] { return !given_.empty(); });
            const std::coroutine_handle<> h = given_.front();
            given_.erase(given_.begin());
            lock.unlock();
            if (!h) return;
            h.resume();
        }
    }

    std::mutex lock_;
    std::condition_variable some_;
    std::vector<std::coroutine_handle<>> given_;
    std::thread thread_;
};

// A coroutine that is on its scheduler after each await, as exec::task: another one awaits for it.
class affine {
    class stretch {
      public:
        class promise_type {
          public:
            template <class Stage>
            promise_type(Stage&, thread_scheduler& own, std::coroutine_handle<> then) noexcept
                : own_(&own), then_(then) {}
            stretch get_return_object() noexcept {
                return stretch(std::coroutine_handle<promise_type>::from_promise(*this));
            }
            std::suspend_always initial_suspend() const noexcept { return {}; }
            class back {
              public:
                bool await_ready() const noexcept { return false; }
                void await_suspend(std::coroutine_handle<promise_type> h) const noexcept {
                    thread_scheduler* const own = h.promise().own_;
                    own->resume(h.promise().then_);  // this frame may be gone from here on
                }
                void await_resume() const noexcept {}
            };
            back final_suspend() const noexcept { return {}; }
            void return_void() const noexcept {}
            void unhandled_exception() const noexcept { std::terminate(); }

          private:
            thread_scheduler* own_;
            std::coroutine_handle<> then_;
        };
        explicit stretch(std::coroutine_handle<> h) noexcept : handle_(h) {}
        stretch(const stretch&) = delete;
        stretch& operator=(const stretch&) = delete;
        stretch(stretch&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
        ~stretch() {
            if (handle_) handle_.destroy();
        }
        void begin() const { handle_.resume(); }

      private:
        std::coroutine_handle<> handle_;
    };

    template <class A>
    class there_and_back {
      public:
        there_and_back(A&& a, thread_scheduler& own) : awaited_(std::forward<A>(a)), own_(own) {}
        there_and_back(const there_and_back&) = delete;
        there_and_back& operator=(const there_and_back&) = delete;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) {
            stretch_.emplace(go(*this, own_, h));
            stretch_->begin();
        }
        auto await_resume() { return std::move(*result_); }

      private:
        static stretch go(there_and_back& me, thread_scheduler&, std::coroutine_handle<>) {
            A& it = me.awaited_;
            auto got = co_await static_cast<A&&>(it);
            me.result_.emplace(std::move(got));
        }

        A&& awaited_;
        thread_scheduler& own_;
        std::optional<decltype(std::declval<A>().await_resume())> result_;
        std::optional<stretch> stretch_;
    };

  public:
    class promise_type {
      public:
        explicit promise_type(thread_scheduler& own) noexcept : own_(&own) {}
        template <class Function>
        promise_type(const Function&, thread_scheduler& own) noexcept : own_(&own) {}
        affine get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        template <class A>
        auto await_transform(A&& a) {
            return there_and_back<A>(std::forward<A>(a), *own_);
        }

      private:
        thread_scheduler* own_;
    };
};

// The promise with which std::execution asks whether something is awaitable, and so a sender.
class env_promise {
  public:
    bare get_return_object() noexcept;
    std::suspend_always initial_suspend() noexcept;
    std::suspend_always final_suspend() noexcept;
    void unhandled_exception() noexcept;
    void return_void() noexcept;
    std::coroutine_handle<> unhandled_stopped() noexcept;
};

template <class T>
concept suspends_with =
    std::same_as<T, void> || std::same_as<T, bool> || std::convertible_to<T, std::coroutine_handle<>>;

template <class A, class Promise>
concept awaiter_by = requires(A& a, std::coroutine_handle<Promise> h) {
    { a.await_ready() } -> std::convertible_to<bool>;
    { a.await_suspend(h) } -> suspends_with;
    a.await_resume();
};

template <class A, class Promise>
concept awaitable_by = awaiter_by<std::remove_reference_t<decltype(awaiter_of(std::declval<A>()))>, Promise>;

// Takes the handles of one promise only.
class choosy {
  public:
    class promise;
    choosy() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<promise>) const noexcept {}
    void await_resume() const noexcept {}
};

// As the promises of Boost.Cobalt: takes what can be awaited with a handle of its own type, and says to whom asks
// for it on which executor of Asio's it runs; here a number stands for that.
class cobalt_like {
  public:
    class promise_type {
      public:
        cobalt_like get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        using executor_type = int;
        const executor_type& get_executor() const noexcept { return executor_; }
        template <class A>
            requires awaitable_by<A, promise_type>
        passed_on<A> await_transform(A&& a) {
            return passed_on<A>(std::forward<A>(a));
        }

      private:
        executor_type executor_ = 0;
    };
};

template <class T>
std::vector<T> two(T a, T b) {
    std::vector<T> both;
    both.push_back(std::move(a));
    both.push_back(std::move(b));
    return both;
}

// Completes each on a thread of its own.
class engine {
  public:
    engine() = default;
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
    ~engine() {
        // Who waited for the last one may be here before `resume` has put it in.
        std::vector<std::thread> all;
        {
            const std::lock_guard guard(lock_);
            all.swap(threads_);
        }
        for (std::thread& t : all) t.join();
    }
    void resume(std::coroutine_handle<> h) {
        const std::lock_guard guard(lock_);
        threads_.emplace_back([h] { h.resume(); });
    }

  private:
    std::mutex lock_;
    std::vector<std::thread> threads_;
};

enum class channel { value, error, stopped };

// What a sender with its value at hand makes of itself for a promise: completes inside of the call that
// starts it, or elsewhere.
template <class Promise, class T>
class completion {
  public:
    completion(channel how, T value, engine* elsewhere)
        : how_(how), value_(std::move(value)), elsewhere_(elsewhere) {}
    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<Promise> h) {
        const std::coroutine_handle<> then =
            how_ == channel::stopped ? h.promise().unhandled_stopped() : std::coroutine_handle<>(h);
        elsewhere_ == nullptr ? then.resume() : elsewhere_->resume(then);
    }
    T await_resume() {
        if (how_ == channel::error) throw std::runtime_error("its own");
        return std::move(value_);
    }

  private:
    channel how_;
    T value_;
    engine* elsewhere_;
};

template <class T>
class sender {
  public:
    sender(channel how, T value, engine* elsewhere)
        : how_(how), value_(std::move(value)), elsewhere_(elsewhere) {}

    template <class Promise>
    auto as_awaitable(Promise&) && {
        return completion<Promise, T>(how_, std::move(value_), elsewhere_);
    }

  private:
    channel how_;
    T value_;
    engine* elsewhere_;
};

template <class T>
sender<T> just(T value) {
    return sender<T>(channel::value, std::move(value), nullptr);
}
inline sender<int> just_error() { return sender<int>(channel::error, 0, nullptr); }
inline sender<int> just_stopped() { return sender<int>(channel::stopped, 0, nullptr); }
inline sender<int> just_on(engine& e, int n) { return sender<int>(channel::value, n, &e); }

class just_nothing {
  public:
    template <class Promise>
    std::suspend_never as_awaitable(Promise&) const noexcept {
        return {};
    }
};

// Gives 1 one way and 2 the other.
class both_ways {
  public:
    template <class Promise>
    auto as_awaitable(Promise&) const {
        return completion<Promise, int>(channel::value, 1, nullptr);
    }
    auto operator co_await() const { return completion<env_promise, int>(channel::value, 2, nullptr); }
};

}  // namespace stand_ins

#endif
