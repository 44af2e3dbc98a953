#include <weir/task/task.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/slot.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/sync_wait.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using weir::task;

static_assert(!std::is_copy_constructible_v<task<int>>);
static_assert(std::is_nothrow_move_constructible_v<task<int>>);
static_assert(std::is_nothrow_move_assignable_v<task<int>>);
static_assert(std::is_nothrow_default_constructible_v<task<int>>);
static_assert(std::is_same_v<task<>, task<void>>);

namespace {

// Counts how many of it live.
class counted {
  public:
    static inline int alive = 0;
    counted() noexcept { ++alive; }
    counted(const counted&) noexcept { ++alive; }
    counted& operator=(const counted&) = default;
    ~counted() { --alive; }
};

// A coroutine of somebody else's: knows nothing of executors, runs at once, cleans up after itself.
struct foreign {
    struct promise_type {
        foreign get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

// Somebody else's event: resumes who waits inside of `set`.
class inline_event {
  public:
    class waits {
      public:
        explicit waits(inline_event& e) noexcept : event_(&e) {}
        bool await_ready() const noexcept { return event_->set_; }
        void await_suspend(std::coroutine_handle<> h) const noexcept { event_->waiter_ = h; }
        void await_resume() const noexcept {}

      private:
        inline_event* event_;
    };
    waits operator co_await() noexcept { return waits(*this); }
    void set() {
        set_ = true;
        if (const auto h = std::exchange(waiter_, nullptr)) h.resume();
    }

  private:
    std::coroutine_handle<> waiter_;
    bool set_ = false;
};

// How far the stack reached. Not by the address of a local: AddressSanitizer puts those elsewhere.
struct depth {
    std::uintptr_t low = UINTPTR_MAX, high = 0;
    WEIR_NOINLINE void note() {
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        if (here < low) low = here;
        if (here > high) high = here;
    }
    std::uintptr_t reached() const noexcept { return high - low; }
};

// Gives the executor of the coroutine that awaits it.
class home_of_awaiter {
  public:
    home_of_awaiter() noexcept {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        executor_ = weir::detail::env_of(h).executor;
        return false;
    }
    weir::executor* await_resume() const noexcept { return executor_; }

  private:
    weir::executor* executor_ = nullptr;
};

task<int> give(int n) { co_return n; }
task<> do_nothing() { co_return; }
task<> note(std::vector<int>& log, int n) {
    log.push_back(n);
    co_return;
}

// What `co_await` of a task gives, or "none" or the message of what it threw.
template <class T>
std::string outcome_of(task<T> t) {
    try {
        static_cast<void>(weir::sync_wait(std::move(t)));
    } catch (const std::exception& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("a task does nothing before it is awaited, and then runs once") {
    std::vector<int> log;
    struct body {
        static task<> outer(std::vector<int>& l) {
            task<> inner = note(l, 2);
            l.push_back(1);
            co_await std::move(inner);
            l.push_back(3);
        }
    };
    task<> t = body::outer(log);
    CHECK(log.empty());
    weir::sync_wait(std::move(t));
    CHECK(log == std::vector<int>{1, 2, 3});
}

TEST_CASE("a task that is destroyed before it was awaited runs nothing and destroys its arguments") {
    struct body {
        static task<> run(counted, std::vector<int>& l) {
            l.push_back(1);
            co_return;
        }
    };
    REQUIRE(counted::alive == 0);
    std::vector<int> log;
    {
        const task<> t = body::run(counted(), log);
        CHECK(counted::alive == 1);
    }
    CHECK(counted::alive == 0);
    {
        task<> t = body::run(counted(), log);
        t = body::run(counted(), log);  // the first one is destroyed
        CHECK(counted::alive == 1);
        task<>& same = t;
        t = std::move(same);
        CHECK(counted::alive == 1);
        task<> moved = std::move(t);
        CHECK(counted::alive == 1);
    }
    CHECK(counted::alive == 0);
    CHECK(log.empty());
}

TEST_CASE("a task destroys its arguments and its result at the end of the await") {
    struct body {
        static task<counted> give_one(counted) { co_return counted(); }
        static task<int> count() {
            co_await give_one(counted());
            co_return counted::alive;
        }
    };
    CHECK(weir::sync_wait(body::count()) == 0);
}

TEST_CASE("awaiting a task that was awaited, moved from, or is empty throws a logic_error") {
    struct body {
        static task<int> one() { co_return 1; }
        static task<> nothing() { co_return; }
        static task<int> awaits(task<int>& t) { co_return co_await std::move(t); }
        static task<> awaits(task<>& t) { co_await std::move(t); }
        static task<int> fails() {
            throw std::runtime_error("its own");
            co_return 1;
        }
    };
    const auto refused = Catch::Matchers::ContainsSubstring("nothing is left to await");
    task<int> t = body::one();
    CHECK(weir::sync_wait(body::awaits(t)) == 1);
    CHECK_THROWS_WITH(weir::sync_wait(body::awaits(t)), refused);
    CHECK_THROWS_WITH(weir::sync_wait(std::move(t)), refused);  // NOLINT: that is what is asked
    task<> v = body::nothing();
    weir::sync_wait(body::awaits(v));
    CHECK_THROWS_WITH(weir::sync_wait(body::awaits(v)), refused);
    task<int> failed = body::fails();
    CHECK_THROWS_WITH(weir::sync_wait(body::awaits(failed)), "its own");
    CHECK_THROWS_WITH(weir::sync_wait(body::awaits(failed)), refused);

    task<int> from = body::one();
    task<int> to = std::move(from);
    CHECK_THROWS_WITH(weir::sync_wait(body::awaits(from)), refused);  // NOLINT: that is what is asked
    CHECK_THROWS_WITH(weir::sync_wait(std::move(from)), refused);     // NOLINT: that is what is asked
    CHECK(weir::sync_wait(std::move(to)) == 1);
    task<int> empty;
    CHECK_THROWS_AS(weir::sync_wait(body::awaits(empty)), std::logic_error);
    empty = body::one();
    CHECK(weir::sync_wait(body::awaits(empty)) == 1);
}

TEST_CASE("a task gives a value, a reference, nothing, or a move-only value") {
    struct body {
        static task<std::string> text() { co_return "text"; }
        static task<int&> same(int& x) { co_return x; }
        static task<const std::string&> constant(const std::string& x) { co_return x; }
        static task<std::string&&> move(std::string& x) { co_return std::move(x); }
        static task<std::unique_ptr<int>> box() { co_return std::make_unique<int>(4); }
        static task<std::pair<int, std::string>> pair() { co_return {1, "x"}; }
        static task<std::unique_ptr<int>> pass_on(task<std::unique_ptr<int>> t) {
            co_return co_await std::move(t);
        }
    };
    CHECK(weir::sync_wait(body::text()) == "text");
    int x = 1;
    static_assert(std::is_same_v<decltype(weir::sync_wait(body::same(x))), int&>);
    CHECK(&weir::sync_wait(body::same(x)) == &x);
    std::string s = "s";
    CHECK(&weir::sync_wait(body::constant(s)) == &s);
    const std::string moved = weir::sync_wait(body::move(s));
    CHECK(moved == "s");
    CHECK(s.empty());
    CHECK(*weir::sync_wait(body::pass_on(body::box())) == 4);
    CHECK(weir::sync_wait(body::pair()).second == "x");
    static_assert(std::is_void_v<decltype(weir::sync_wait(do_nothing()))>);
    weir::sync_wait(do_nothing());
}

TEST_CASE("a task gives a reference to what a std::ref, or one of a derived class, refers to") {
    struct base {
        int n = 1;
    };
    struct derived : base {};
    struct body {
        static task<int&> wrapped(int& x) { co_return std::ref(x); }
        static task<const int&> constant(int& x) { co_return std::ref(x); }
        static task<const int&> wrapped_constant(const int& x) { co_return std::cref(x); }
        static task<base&> of_derived(derived& d) { co_return d; }
    };
    int x = 1;
    CHECK(&weir::sync_wait(body::wrapped(x)) == &x);
    CHECK(&weir::sync_wait(body::constant(x)) == &x);
    CHECK(&weir::sync_wait(body::wrapped_constant(x)) == &x);
    derived d;
    CHECK(&weir::sync_wait(body::of_derived(d)) == &d);
}

TEST_CASE("an exception of a task is thrown by the await, on whichever thread it was thrown") {
    struct bad_copy {
        bad_copy() noexcept {}
        bad_copy(const bad_copy&) { throw std::runtime_error("copy"); }
        bad_copy& operator=(const bad_copy&) = delete;
    };
    struct body {
        static task<int> at_once() {
            throw std::runtime_error("at once");
            co_return 1;
        }
        static task<> void_at_once() {
            throw std::runtime_error("void");
            co_return;
        }
        static task<int&> reference() {
            throw std::runtime_error("reference");
            static int x = 0;
            co_return x;
        }
        static task<bad_copy> result() {
            const bad_copy b;
            co_return b;
        }
        static task<std::string> caught() {
            std::string message;
            try {
                co_await void_at_once();
            } catch (const std::runtime_error& e) {
                message = std::string("caught ") + e.what();
            }
            co_return message;
        }
        static task<int> passed_on() {
            const counted here;
            const int n = co_await at_once();
            co_return n + 1;
        }
    };
    CHECK(outcome_of(body::at_once()) == "at once");
    CHECK_THROWS_AS(weir::sync_wait(body::void_at_once()), std::runtime_error);
    CHECK(outcome_of(body::reference()) == "reference");
    CHECK(outcome_of(body::result()) == "copy");
    CHECK(weir::sync_wait(body::caught()) == "caught void");
    CHECK(outcome_of(body::passed_on()) == "at once");
    CHECK(counted::alive == 0);
}

TEST_CASE("a million tasks that end without waiting need no more stack than a few") {
    constexpr int n = 1'000'000;
    struct body {
        static task<int> leaf(depth& d, int i) {
            d.note();
            co_return i % 2;
        }
        static task<int> loop(depth& d) {
            int sum = 0;
            for (int i = 0; i < n; ++i) {
                const int one = co_await leaf(d, i);
                sum += one;
            }
            co_return sum;
        }
        static foreign from_foreign(depth& d, int& sum) { sum = co_await loop(d); }
    };
    depth d;
    int sum = 0;
    SECTION("on an executor") {
        weir::virtual_time time;
        sum = weir::sync_wait(time, body::loop(d));
    }
    SECTION("from a foreign coroutine") { body::from_foreign(d, sum); }
    CHECK(sum == n / 2);
    CHECK(d.reached() < 64 * 1024);
}

TEST_CASE("a chain of a hundred thousand tasks, each awaited by the next, needs little stack") {
    struct body {
        static task<int> down(depth& d, int n) {
            d.note();
            if (n == 0) co_return 0;
            const int below = co_await down(d, n - 1);
            d.note();
            co_return below + 1;
        }
        static task<int> down_and_throw(depth& d, int n) {
            d.note();
            if (n == 0) throw std::runtime_error("bottom");
            const int below = co_await down_and_throw(d, n - 1);
            co_return below + 1;
        }
    };
    depth d;
    CHECK(weir::sync_wait(body::down(d, 100'000)) == 100'000);
    CHECK(outcome_of(body::down_and_throw(d, 1'000)) == "bottom");
    CHECK(d.reached() < 64 * 1024);
}

TEST_CASE("the coroutine that awaits a task resumes on its own executor, wherever the task ran") {
    struct body {
        static task<weir::executor*> hop(weir::executor& there) {
            co_await weir::schedule(there);
            co_return weir::detail::current_executor();
        }
        static task<> hop_and_throw(weir::executor& there) {
            co_await weir::schedule(there);
            throw std::runtime_error("from there");
        }
        static task<bool> stay(weir::executor& there) {
            weir::executor* const here = weir::detail::current_executor();
            const auto thread = std::this_thread::get_id();
            weir::executor* const was = co_await hop(there);
            bool right = was == &there && weir::detail::current_executor() == here &&
                         std::this_thread::get_id() == thread;
            bool threw = false;
            try {
                co_await hop_and_throw(there);
            } catch (const std::runtime_error&) {
                threw = true;
            }
            right = right && threw && weir::detail::current_executor() == here &&
                    std::this_thread::get_id() == thread;
            co_return right;
        }
        // Itself hops for good: what it awaits from then on returns there.
        static task<bool> move_house(weir::executor& there) {
            co_await weir::schedule(there);
            co_await do_nothing();
            bool right = weir::detail::current_executor() == &there;
            const bool stayed = co_await stay(there);
            right = right && stayed;
            co_return right&& weir::detail::current_executor() == &there;
        }
    };
    weir::thread_pool pool(1), other(1);
    CHECK(weir::sync_wait(body::stay(pool)));
    CHECK(weir::sync_wait(pool, body::stay(other)));
    CHECK(weir::sync_wait(body::move_house(pool)));
    CHECK(weir::sync_wait(body::hop(pool)) == &pool);
}

TEST_CASE("a task inherits the executor of the coroutine that awaits it") {
    struct body {
        static task<weir::executor*> whose() { co_return co_await home_of_awaiter(); }
        static task<weir::executor*> nested() { co_return co_await whose(); }
        static foreign ask(weir::executor*& home) { home = co_await nested(); }
        static foreign ask_on(weir::executor& ex, weir::executor*& home) {
            co_await weir::schedule(ex);
            home = co_await nested();
        }
    };
    weir::virtual_time time;
    CHECK(weir::sync_wait(time, body::nested()) == &time);
    weir::executor* home = &time;
    body::ask(home);
    CHECK(home == nullptr);
    body::ask_on(time, home);
    time.run();
    CHECK(home == &time);
}

TEST_CASE("a coroutine of another library awaits tasks, with and without a wait in them") {
    struct body {
        static task<int> waits(inline_event& e) {
            co_await e;
            const int n = co_await give(2);
            co_return n + 1;
        }
        static foreign sum(inline_event& e, int& result) {
            const int a = co_await give(1);
            const int b = co_await waits(e);
            result = a + b;
        }
        static foreign catch_it(std::string& message) {
            try {
                co_await fail();
            } catch (const std::runtime_error& e) {
                message = e.what();
            }
        }
        static task<> fail() {
            co_await do_nothing();
            throw std::runtime_error("failed");
        }
    };
    inline_event e;
    int result = 0;
    body::sum(e, result);
    CHECK(result == 0);
    e.set();  // on this thread, on which no executor runs
    CHECK(result == 4);
    std::string message;
    body::catch_it(message);
    CHECK(message == "failed");
}

TEST_CASE("a foreign event that resumes a task inside of another one loses neither of them") {
    // Both hand over often enough to run into the limit on transfers, before the event and after.
    struct body {
        static task<> hand_over(int times) {
            for (int i = 0; i < times; ++i) co_await do_nothing();
        }
        static task<> waiter(inline_event& e, int times, int& done) {
            co_await e;
            co_await hand_over(times);
            ++done;
        }
        static task<> setter(inline_event& e, int times, int& done) {
            co_await hand_over(times);
            e.set();
            co_await hand_over(40);
            ++done;
        }
        static foreign start(weir::executor& ex, task<> t) {
            co_await weir::schedule(ex);
            co_await std::move(t);
        }
    };
    for (int before = 0; before < 40; ++before) {
        for (int after = 0; after < 40; ++after) {
            inline_event e;
            int done = 0;
            weir::virtual_time time;
            body::start(time, body::waiter(e, after, done));
            time.run();
            body::start(time, body::setter(e, before, done));
            time.run();
            CAPTURE(before, after);
            REQUIRE(done == 2);
        }
    }
}

TEST_CASE("a foreign event that is set again and again from a task lets no stack grow") {
    struct body {
        static task<> waiter(inline_event& e, depth& d) {
            co_await e;
            for (int i = 0; i < 40; ++i) co_await do_nothing();
            d.note();
        }
        static task<> set_many(int times, depth& d, int& left) {
            for (int i = 0; i < times; ++i) {
                inline_event e;
                watch(e, d, left);
                e.set();
                co_await do_nothing();
            }
            d.note();
        }
        static foreign watch(inline_event& e, depth& d, int& left) {
            co_await waiter(e, d);
            --left;
        }
    };
    depth d;
    int left = 10'000;
    weir::sync_wait(body::set_many(10'000, d, left));
    CHECK(left == 0);
    CHECK(d.reached() < 64 * 1024);
}

namespace {

// An executor whose clock is set by hand.
class manual final : public weir::executor {
  public:
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
    weir::time_point now() const noexcept override { return now_; }
    void advance(std::int64_t ns) noexcept { now_ += weir::duration(ns); }
    void run() {
        while (!ready_.empty()) {
            const auto h = ready_.back();
            ready_.pop_back();
            resume(h);
        }
    }

  private:
    std::vector<std::coroutine_handle<>> ready_;
    weir::time_point now_{};
};

class owner final : public weir::detail::detached_task_owner {
  public:
    void ended() noexcept override { ++times; }
    int times = 0;
};

}  // namespace

TEST_CASE("a stage's slot records when its function suspends, also in tasks that the function awaits") {
    struct body {
        static task<int> part(manual& ex, inline_event& e) {
            ex.advance(1);  // runs
            co_await e;
            ex.advance(2);  // runs
            co_return 1;
        }
        static weir::async_generator<int> parts(manual& ex, inline_event& e) {
            ex.advance(4);  // runs
            co_await e;
            ex.advance(8);  // runs
            co_yield 1;
        }
        static task<> function(manual& ex, inline_event& first, inline_event& second) {
            co_await part(ex, first);
            ex.advance(16);  // runs
            weir::async_generator<int> g = parts(ex, second);
            co_await g.next();
            co_await g.next();
            ex.advance(32);  // runs
        }
    };
    manual ex;
    const std::string stage = "stage";
    weir::detail::slot slot(stage, 0, ex);
    slot.begin(0);
    inline_event first, second;
    task<> t = body::function(ex, first, second);
    auto detached_task = weir::detail::make_detached_task<void, task<>>(t);
    owner o;
    detached_task.start(ex, &slot, o);
    ex.advance(64);  // is runnable
    slot.resumed(64);
    ex.run();
    ex.advance(128);  // awaits
    first.set();
    ex.run();
    ex.advance(256);  // awaits
    second.set();
    ex.run();
    CHECK(o.times == 1);
    slot.lock();
    const auto& spent = slot.spent_until(ex.now().time_since_epoch().count());
    const auto of = [&](weir::detail::slot_state s) { return spent[static_cast<std::size_t>(s)]; };
    CHECK(of(weir::detail::slot_state::runnable) == 64);
    CHECK(of(weir::detail::slot_state::run) == 1 + 2 + 4 + 8 + 16 + 32);
    CHECK(of(weir::detail::slot_state::await) == 128 + 256);
    slot.unlock();
}
