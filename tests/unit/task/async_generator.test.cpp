#include <weir/task/async_generator.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::async_generator;
using weir::task;

static_assert(!std::is_copy_constructible_v<async_generator<int>>);
static_assert(std::is_nothrow_move_constructible_v<async_generator<int>>);
static_assert(std::is_nothrow_move_assignable_v<async_generator<int>>);

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

template <class T>
task<std::vector<T>> all(async_generator<T> g) {
    std::vector<T> values;
    while (auto v = co_await g.next()) values.push_back(std::move(*v));
    co_return values;
}

async_generator<int> count(int n) {
    for (int i = 1; i <= n; ++i) co_yield i;
}

}  // namespace

TEST_CASE("an async generator gives its values in order, and then an empty optional each time") {
    CHECK(weir::sync_wait(all(count(4))) == std::vector<int>{1, 2, 3, 4});
    CHECK(weir::sync_wait(all(count(0))).empty());
    struct body {
        static task<bool> ask_on() {
            async_generator<int> g = count(1);
            const std::optional<int> first = co_await g.next();
            const std::optional<int> second = co_await g.next();
            const std::optional<int> third = co_await g.next();
            co_return first == 1 && !second && !third;
        }
    };
    CHECK(weir::sync_wait(body::ask_on()));
}

TEST_CASE("an async generator runs only while it is asked for a value") {
    struct body {
        static async_generator<int> log_and_count(std::vector<std::string>& log) {
            log.push_back("begins");
            co_yield 1;
            log.push_back("goes on");
            co_yield 2;
            log.push_back("ends");
        }
        static task<> ask(std::vector<std::string>& log) {
            async_generator<int> g = log_and_count(log);
            log.push_back("made");
            while (auto v = co_await g.next()) log.push_back(std::to_string(*v));
        }
    };
    std::vector<std::string> log;
    weir::sync_wait(body::ask(log));
    CHECK(log == std::vector<std::string>{"made", "begins", "1", "goes on", "2", "ends"});
}

TEST_CASE("an async generator waits between its values") {
    struct body {
        static task<int> square(int n) {
            co_await weir::sleep_for(1s);
            co_return n* n;
        }
        static async_generator<int> squares(int n) {
            for (int i = 1; i <= n; ++i) {
                const int s = co_await square(i);
                co_yield s + 0;
                co_await weir::sleep_for(2s);
            }
        }
        static task<std::vector<std::pair<int, weir::time_point>>> watch(weir::virtual_time& time) {
            std::vector<std::pair<int, weir::time_point>> seen;
            async_generator<int> g = squares(3);
            while (auto v = co_await g.next()) seen.emplace_back(*v, time.now());
            co_return seen;
        }
    };
    weir::virtual_time time;
    const auto seen = weir::sync_wait(time, body::watch(time));
    const weir::time_point t0{};
    CHECK(seen == std::vector<std::pair<int, weir::time_point>>{{1, t0 + 1s}, {4, t0 + 4s}, {9, t0 + 7s}});
    CHECK(time.now() == t0 + 9s);
}

TEST_CASE("an exception of an async generator is thrown by the current next, and ends the generator") {
    struct body {
        static async_generator<int> fail_after(int n) {
            for (int i = 0; i < n; ++i) co_yield i;
            throw std::runtime_error("failed");
        }
        static task<std::string> ask(int good) {
            std::string log;
            async_generator<int> g = fail_after(good);
            for (int i = 0; i < good + 3; ++i) {
                try {
                    const std::optional<int> v = co_await g.next();
                    log += v ? 'v' : '-';
                } catch (const std::runtime_error&) {
                    log += 'X';
                }
            }
            co_return log;
        }
    };
    CHECK(weir::sync_wait(body::ask(0)) == "X--");
    CHECK(weir::sync_wait(body::ask(2)) == "vvX--");
}

TEST_CASE("an async generator may be destroyed before it began, half-way, and after its end") {
    struct body {
        static async_generator<counted> give(counted) {
            const counted here;
            for (int i = 0; i < 3; ++i) co_yield counted();
        }
        static task<int> ask(int times) {
            async_generator<counted> g = give(counted());
            for (int i = 0; i < times; ++i) {
                const std::optional<counted> v = co_await g.next();
            }
            co_return counted::alive;
        }
        static task<> replace() {
            async_generator<counted> g = give(counted());
            co_await g.next();
            g = give(counted());
            co_await g.next();
            async_generator<counted>& same = g;
            g = std::move(same);
            async_generator<counted> moved = std::move(g);
            co_await moved.next();
            const std::optional<counted> none = co_await g.next();  // NOLINT: moved from, gives nothing
            if (none) throw std::logic_error("a generator that was moved from gave something");
            async_generator<counted> empty;
            const std::optional<counted> nothing = co_await empty.next();
            if (nothing) throw std::logic_error("an empty generator gave something");
        }
    };
    REQUIRE(counted::alive == 0);
    for (int times = 0; times <= 5; ++times) {
        CAPTURE(times);
        static_cast<void>(weir::sync_wait(body::ask(times)));
        CHECK(counted::alive == 0);
    }
    weir::sync_wait(body::replace());
    CHECK(counted::alive == 0);
}

TEST_CASE("co_yield of an lvalue gives a copy, and doesn't change the lvalue") {
    struct body {
        static async_generator<std::string> repeat(int n) {
            const std::string constant = "a string that is too long to be kept inside of the object";
            std::string variable = constant;
            for (int i = 0; i < n; ++i) {
                co_yield variable;
                co_yield constant;
            }
            co_yield std::move(variable);
            co_yield variable;  // empty, since it was moved from
            co_yield "converted";
        }
    };
    const std::vector<std::string> v = weir::sync_wait(all(body::repeat(2)));
    REQUIRE(v.size() == 7);
    for (std::size_t i = 0; i < 5; ++i) CHECK(v[i] == v[0]);
    CHECK(v[0].size() > 40);
    CHECK(v[5].empty());
    CHECK(v[6] == "converted");
}

TEST_CASE("an aggregate that an async generator yields by name is moved or copied, and destroyed once") {
    struct parcel {
        std::shared_ptr<int> alive;
        int weight;
    };
    struct body {
        static async_generator<parcel> pack(std::shared_ptr<int> alive) {
            parcel first{alive, 1};
            co_yield std::move(first);
            parcel second{std::move(alive), 2};
            co_yield second;
            second.weight = 3;
            co_yield std::move(second);
        }
        static task<int> weigh(async_generator<parcel> parcels, const std::shared_ptr<int>& alive) {
            int weights = 0;
            while (const auto p = co_await parcels.next()) {
                weights = weights * 10 + p->weight + (p->alive == alive ? 0 : 100);
            }
            co_return weights;
        }
    };
    const auto alive = std::make_shared<int>(7);
    weir::virtual_time time;
    CHECK(weir::sync_wait(time, body::weigh(body::pack(alive), alive)) == 123);
    CHECK(alive.use_count() == 1);
}

TEST_CASE("an exception of a copy in co_yield is thrown by next, and the generator may continue") {
    class fragile {
      public:
        fragile() noexcept {}
        fragile(fragile&&) noexcept {}
        fragile(const fragile&) { throw std::runtime_error("copy"); }
        fragile& operator=(const fragile&) = delete;
    };
    struct body {
        static async_generator<fragile> give() {
            const fragile f;
            bool failed = false;
            try {
                co_yield f;
            } catch (const std::runtime_error&) {
                failed = true;
            }
            if (failed) co_yield fragile();
            co_yield f;
        }
        static task<std::string> ask() {
            std::string log;
            async_generator<fragile> g = give();
            for (int i = 0; i < 3; ++i) {
                try {
                    const std::optional<fragile> v = co_await g.next();
                    log += v ? 'v' : '-';
                } catch (const std::runtime_error&) {
                    log += 'X';
                }
            }
            co_return log;
        }
    };
    CHECK(weir::sync_wait(body::ask()) == "vX-");
}

TEST_CASE("an async generator gives move-only values") {
    struct body {
        static async_generator<std::unique_ptr<int>> boxes() {
            co_yield std::make_unique<int>(1);
            auto named = std::make_unique<int>(2);
            co_yield std::move(named);
        }
    };
    const auto boxes = weir::sync_wait(all(body::boxes()));
    REQUIRE(boxes.size() == 2);
    CHECK(*boxes[0] == 1);
    CHECK(*boxes[1] == 2);
}

TEST_CASE("an async generator can await another one") {
    struct body {
        static async_generator<int> doubled(async_generator<int> g) {
            while (auto v = co_await g.next()) co_yield 2 * *v;
        }
    };
    CHECK(weir::sync_wait(all(body::doubled(body::doubled(count(3))))) == std::vector<int>{4, 8, 12});
}

TEST_CASE("the coroutine that awaits next resumes on its own executor, wherever the async generator ran") {
    struct body {
        static async_generator<weir::executor*> travel(weir::executor& there) {
            for (int i = 0; i < 3; ++i) {
                co_yield weir::detail::current_executor();
                co_await weir::schedule(there);
                co_yield weir::detail::current_executor();
            }
        }
        static task<bool> ask(weir::executor& here, weir::executor& there) {
            bool right = true;
            async_generator<weir::executor*> g = travel(there);
            for (int i = 0; i < 3; ++i) {
                const auto first = co_await g.next();
                right = right && *first == &here && weir::detail::current_executor() == &here;
                const auto second = co_await g.next();
                right = right && *second == &there && weir::detail::current_executor() == &here;
            }
            co_return right;
        }
    };
    weir::thread_pool here(1), there(1);
    CHECK(weir::sync_wait(here, body::ask(here, there)));
}

TEST_CASE("a million values that are yielded without a wait need no more stack than a few") {
    struct depth {
        std::uintptr_t low = UINTPTR_MAX, high = 0;
        WEIR_NOINLINE void note() {
            const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
            if (here < low) low = here;
            if (here > high) high = here;
        }
    };
    struct body {
        static async_generator<int> give(depth& d, int n) {
            for (int i = 0; i < n; ++i) {
                d.note();
                co_yield i % 2;
            }
        }
        static task<int> sum(depth& d, int n) {
            int s = 0;
            async_generator<int> g = give(d, n);
            while (auto v = co_await g.next()) {
                d.note();
                s += *v;
            }
            co_return s;
        }
    };
    depth d;
    CHECK(weir::sync_wait(body::sum(d, 1'000'000)) == 500'000);
    CHECK(d.high - d.low < 64 * 1024);
}

TEST_CASE("a coroutine of another library awaits next of an async generator") {
    struct foreign {
        struct promise_type {
            foreign get_return_object() const noexcept { return {}; }
            std::suspend_never initial_suspend() const noexcept { return {}; }
            std::suspend_never final_suspend() const noexcept { return {}; }
            void return_void() const noexcept {}
            void unhandled_exception() const noexcept { std::terminate(); }
        };
        static foreign sum(int n, int& result) {
            int s = 0;
            async_generator<int> g = count(n);
            while (auto v = co_await g.next()) s += *v;
            result = s;
        }
    };
    int result = 0;
    foreign::sum(100, result);
    CHECK(result == 5'050);
}
