#include <weir/channel/channel.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::channel;
using weir::channel_stats;
using weir::channel_status;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using weir::when_all;

static_assert(!std::is_copy_constructible_v<channel<int>>);
static_assert(!std::is_move_constructible_v<channel<int>>);
static_assert(!std::is_convertible_v<int, channel<int>>);

// What a run alone may ask.
template <class C>
concept tells_of_another_instant = requires(C& c) { c.stats_until(0); };
static_assert(!tells_of_another_instant<channel<int>>);

// Counts allocations in this program, for the test that there are none. Not inlined: g++ would warn
// of a free() of what operator new gave. Under a sanitizer they stay its own, which check more.
namespace {
std::atomic<long> allocations{0};
}
#if defined(__has_feature)
#define WEIR_TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define WEIR_TEST_HAS_FEATURE(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !WEIR_TEST_HAS_FEATURE(address_sanitizer) && !WEIR_TEST_HAS_FEATURE(thread_sanitizer)
WEIR_NOINLINE void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* const p = std::malloc(size == 0 ? 1 : size)) return p;
    throw std::bad_alloc();
}
WEIR_NOINLINE void operator delete(void* p) noexcept { std::free(p); }
WEIR_NOINLINE void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace {

const weir::time_point t0{};

// An executor that never allocates after its constructor, whose clock is set by hand, and which
// counts how often that is read.
class manual final : public weir::executor {
  public:
    manual() : ready_(64) {}
    void post(std::coroutine_handle<> h) noexcept override {
        ready_[(first_ + size_) % ready_.size()] = h;
        ++size_;
    }
    void add(weir::timer& t) noexcept override {
        if (!timers_.add(t)) post(t.waiter());
    }
    void cancel(weir::timer& t) noexcept override {
        if (timers_.cancel(t, now_)) post(t.waiter());
    }
    bool drive(flag&, weir::time_point) override { return false; }
    weir::time_point now() const noexcept override {
        ++reads;
        return now_;
    }
    void run() {
        while (size_ != 0) {
            const auto h = ready_[first_];
            first_ = (first_ + 1) % ready_.size();
            --size_;
            resume(h);
        }
    }
    void advance(weir::duration d) { now_ += d; }

    mutable int reads = 0;

  private:
    std::vector<std::coroutine_handle<>> ready_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
    weir::timer_queue timers_;
    weir::time_point now_{};
};

// What has become of an operation.
enum class fate { pending, success, refused };

template <class Policy = weir::measured>
actor put(channel<int, Policy>& c, int n, weir::stop_token stop, fate& result) {
    const bool in = co_await c.put(n + 0, std::move(stop));
    result = in ? fate::success : fate::refused;
}

template <class Policy = weir::measured>
actor get(channel<int, Policy>& c, weir::stop_token stop, fate& result, int& got) {
    const std::optional<int> n = co_await c.get(std::move(stop));
    result = n ? fate::success : fate::refused;
    if (n) got = *n;
}

// Also tells the number of its item.
template <class Channel>
actor get_numbered(Channel& c, std::optional<int>& got, std::uint64_t& number) {
    auto operation = c.get();
    got = co_await operation;
    if (got) number = operation.number();
}

task<> put_all(channel<int>& c, int first, int count) {
    for (int i = 0; i < count; ++i) {
        const bool in = co_await c.put(first + i);
        if (!in) throw std::logic_error("refused");
    }
}

task<std::vector<int>> get_all(channel<int>& c) {
    std::vector<int> all;
    while (const auto n = co_await c.get()) all.push_back(*n);
    co_return all;
}

task<> close_after(weir::duration d, channel<int>& c) {
    co_await weir::sleep_for(d);
    c.close();
}

std::vector<int> one_to(int n) {
    std::vector<int> v;
    for (int i = 1; i <= n; ++i) v.push_back(i);
    return v;
}

// Counts how many of it live, moved-from ones included.
class counted {
  public:
    static inline int alive = 0;
    counted() noexcept { ++alive; }
    counted(counted&&) noexcept { ++alive; }
    counted& operator=(counted&&) = delete;
    ~counted() { --alive; }
};

}  // namespace

// ---- order and capacity -------------------------------------------------------------------------

TEST_CASE("items come out in the order in which they went in") {
    for (const std::size_t capacity : {1U, 2U, 7U, 1'000U}) {
        CAPTURE(capacity);
        virtual_time time;
        channel<int> c(capacity, time);
        const auto results = sync_wait(time, when_all(put_all(c, 1, 100), close_after(1s, c), get_all(c)));
        CHECK(std::get<2>(results) == one_to(100));
        CHECK(c.stats().num_put == 100);
        CHECK(c.stats().num_get == 100);
    }
}

TEST_CASE("waiting puts and waiting gets are served first come, first served") {
    virtual_time time;
    channel<int> c(1, time);
    fate done[5] = {};
    int got[5] = {};
    std::vector<actor> actors;
    for (int i = 0; i < 5; ++i) {
        actors.push_back(get(c, {}, done[i], got[i]));
        actors.back().start(time);
        time.run_until(t0 + 1s * (i + 1));
    }
    for (int n = 10; n < 15; ++n) CHECK(c.try_put(n + 0) == channel_status::success);
    time.run();
    for (int i = 0; i < 5; ++i) CHECK(got[i] == 10 + i);

    CHECK(c.try_put(0) == channel_status::success);
    for (int i = 0; i < 5; ++i) {
        done[i] = fate::pending;
        actors.push_back(put(c, i + 1, {}, done[i]));
        actors.back().start(time);
        time.run_until(t0 + 1s * (i + 10));
    }
    for (int i = 0; i < 5; ++i) {
        CHECK(*c.try_get() == i);
        time.run_until(time.now());
        for (int k = 0; k < 5; ++k) CHECK((done[k] == fate::success) == (k <= i));
    }
    CHECK(*c.try_get() == 5);
}

TEST_CASE("an item for a waiting get is handed over directly, and the queue stays empty") {
    virtual_time time;
    channel<int> c(1, time);
    struct body {
        static task<> tick(channel<int>& to) {
            for (int i = 0; i < 10; ++i) {
                co_await weir::sleep_for(1s);
                co_await to.put(i + 0);
            }
            to.close();
        }
    };
    sync_wait(time, when_all(get_all(c), body::tick(c)));
    const channel_stats s = c.stats();
    CHECK(s.num_get == 10);
    CHECK(s.elapsed == 10s);
    CHECK(s.empty == 10s);
    CHECK(s.readiness() == 0.0);
    CHECK(s.get_wait == 10s);
    CHECK(s.get_waits.p50() == s.get_waits.max());
}

TEST_CASE("try_put and try_get say why they did nothing") {
    channel<int> c(2);
    CHECK(c.try_get().status() == channel_status::empty);
    CHECK(c.try_put(1) == channel_status::success);
    CHECK(c.try_put(2) == channel_status::success);
    int third = 3;
    CHECK(c.try_put(std::move(third)) == channel_status::full);
    CHECK(c.size() == 2);
    CHECK(c.capacity() == 2);
    c.close();
    CHECK(c.closed());
    CHECK(c.try_put(std::move(third)) == channel_status::closed);
    CHECK(*c.try_get() == 1);
    CHECK(*c.try_get() == 2);
    CHECK(c.try_get().status() == channel_status::closed);
}

TEST_CASE("a channel carries move-only items, and keeps no item that was got") {
    virtual_time time;
    channel<std::unique_ptr<int>> c(2, time, "boxes");
    CHECK(c.name() == "boxes");
    auto item = std::make_unique<int>(1);
    CHECK(c.try_put(std::move(item)) == channel_status::success);
    CHECK_FALSE(item);
    item = std::make_unique<int>(2);
    c.close();
    CHECK(c.try_put(std::move(item)) == channel_status::closed);
    CHECK(item);
    CHECK(**c.try_get() == 1);

    REQUIRE(counted::alive == 0);
    {
        channel<counted> full(2, time);
        full.try_put(counted());
        full.try_put(counted());
        CHECK(counted::alive == 2);
        {
            const auto got = full.try_get();
        }
        CHECK(counted::alive == 1);
    }
    CHECK(counted::alive == 0);
}

TEST_CASE("a capacity of 0 is refused from the beginning and later") {
    CHECK_THROWS_AS(channel<int>(0), std::invalid_argument);
    virtual_time time;
    CHECK_THROWS_AS(channel<int>(0, time), std::invalid_argument);
    channel<int> c(1);
    CHECK_THROWS_AS(c.set_capacity(0), std::invalid_argument);
    CHECK(c.capacity() == 1);
}

TEMPLATE_TEST_CASE("a channel takes as many items as its capacity, a power of two or not", "", weir::measured,
                   weir::unmeasured) {
    for (std::size_t capacity = 1; capacity <= 9; ++capacity) {
        CAPTURE(capacity);
        virtual_time time;
        channel<int, TestType> c(capacity, time);
        const int places = static_cast<int>(capacity);
        int next = 0, expected = 0;
        // The places are filled from each of their number on, and more than once.
        for (int round = 0; round < 2 * places + 3; ++round) {
            for (int i = 0; i < places; ++i) {
                REQUIRE(c.try_put(next + 0) == channel_status::success);
                ++next;
            }
            REQUIRE(c.try_put(-1) == channel_status::full);
            REQUIRE(c.size() == capacity);
            fate waits = fate::pending, waits_too = fate::pending;
            actor a = put(c, next++, {}, waits), b = put(c, next++, {}, waits_too);
            a.start(time);
            b.start(time);
            time.run_until(time.now());
            REQUIRE(waits == fate::pending);
            REQUIRE(c.blocking_put(-1, 0s) == channel_status::timed_out);
            REQUIRE(*c.try_get() == expected++);
            time.run_until(time.now());
            REQUIRE(waits == fate::success);
            REQUIRE(waits_too == fate::pending);
            REQUIRE(c.size() == capacity);
            REQUIRE(c.try_put(-1) == channel_status::full);
            REQUIRE(*c.try_get() == expected++);
            time.run_until(time.now());
            REQUIRE(waits_too == fate::success);
            for (int i = 0; i < places; ++i) REQUIRE(*c.try_get() == expected++);
            REQUIRE(c.try_get().status() == channel_status::empty);
            // From another place the next time.
            REQUIRE(c.try_put(next + 0) == channel_status::success);
            ++next;
            REQUIRE(*c.try_get() == expected++);
        }
    }
}

TEMPLATE_TEST_CASE("items have consecutive numbers, whether handed over or out of the queue", "",
                   weir::measured, weir::unmeasured) {
    for (std::size_t capacity : {1U, 2U, 3U, 5U}) {
        CAPTURE(capacity);
        virtual_time time;
        channel<int, TestType> c(capacity, time);
        const int places = static_cast<int>(capacity);
        int next = 0;
        const auto put_next = [&] { return c.try_put(next++) == channel_status::success; };
        std::uint64_t expected = 0;
        for (int round = 0; round < 20; ++round) {
            const int waiting = round % 4;
            std::vector<actor> actors;
            std::vector<std::optional<int>> got(4 + capacity);
            std::vector<std::uint64_t> number(got.size());
            std::size_t gets = 0;
            const auto get_next = [&] {
                actors.push_back(get_numbered(c, got[gets], number[gets]));
                actors.back().start(time);
                ++gets;
                time.run_until(time.now());
            };
            for (int i = 0; i < waiting; ++i) get_next();
            for (int i = 0; i < waiting; ++i) REQUIRE(put_next());  // to those who wait
            REQUIRE(c.size() == 0);
            for (int i = 0; i < places; ++i) REQUIRE(put_next());  // into the queue
            REQUIRE(c.size() == capacity);
            REQUIRE(c.try_put(-1) == channel_status::full);
            for (int i = 0; i < places; ++i) get_next();
            time.run();
            for (std::size_t i = 0; i < gets; ++i) {
                REQUIRE(number[i] == expected);
                REQUIRE(got[i] == static_cast<int>(expected));
                ++expected;
            }
        }
        CHECK(c.stats().num_put == expected);
        CHECK(c.stats().num_get == expected);
        CHECK(c.size() == 0);
    }
}

// ---- close and cancel ---------------------------------------------------------------------------

TEST_CASE("close wakes all waiting operations without an item") {
    for (int waiters = 0; waiters <= 6; ++waiters) {
        for (const std::uint64_t seed : {0U, 1U, 2U}) {
            CAPTURE(waiters, seed);
            virtual_time time(seed);
            channel<int> empty(1, time), full(1, time);
            CHECK(full.try_put(0) == channel_status::success);
            std::vector<actor> actors;
            std::vector<fate> gets(static_cast<std::size_t>(waiters)), puts = gets;
            int unused = -1;
            for (std::size_t i = 0; i < gets.size(); ++i) {
                actors.push_back(get(empty, {}, gets[i], unused));
                actors.back().start(time);
                actors.push_back(put(full, 1, {}, puts[i]));
                actors.back().start(time);
            }
            time.run_until(t0 + 1s);
            empty.close();
            full.close();
            empty.close();  // changes nothing
            CHECK(std::all_of(gets.begin(), gets.end(), [](fate f) { return f == fate::pending; }));
            time.run();
            CHECK(std::all_of(gets.begin(), gets.end(), [](fate f) { return f == fate::refused; }));
            CHECK(std::all_of(puts.begin(), puts.end(), [](fate f) { return f == fate::refused; }));
            CHECK(unused == -1);
            CHECK(full.size() == 1);
            CHECK(*full.try_get() == 0);
            CHECK(empty.stats().num_get == 0);
            CHECK(empty.stats().get_waits.count() == 0);
            CHECK(empty.stats().get_wait == 1s * waiters);
            CHECK(full.stats().num_put == 1);
        }
    }
}

TEST_CASE("a channel closed to newcomers admits waiting puts, and ends when their items have been got") {
    for (int waiters = 0; waiters <= 3; ++waiters) {
        CAPTURE(waiters);
        virtual_time time;
        channel<int> c(1, time);
        CHECK(c.try_put(0) == channel_status::success);
        std::vector<actor> actors;
        std::vector<fate> puts(static_cast<std::size_t>(waiters));
        for (int i = 0; i < waiters; ++i) {
            actors.push_back(put(c, i + 1, {}, puts[static_cast<std::size_t>(i)]));
            actors.back().start(time);
        }
        time.run_until(t0 + 1s);
        c.close_to_newcomers();
        c.close_to_newcomers();  // changes nothing
        CHECK(c.closed());
        CHECK(weir::detail::base_of(c).contradiction() == nullptr);
        CHECK(c.try_put(99) == channel_status::closed);
        for (int n = 0; n <= waiters; ++n) CHECK(*c.try_get() == n);
        CHECK(c.try_get().status() == channel_status::closed);
        time.run();
        CHECK(std::all_of(puts.begin(), puts.end(), [](fate f) { return f == fate::success; }));
    }
    virtual_time time;
    channel<int> empty(1, time);
    fate result = fate::pending;
    int unused = -1;
    actor waits = get(empty, {}, result, unused);
    waits.start(time);
    time.run_until(t0 + 1s);
    empty.close_to_newcomers();
    time.run();
    CHECK(result == fate::refused);
}

TEST_CASE("items inside a closed channel can still be got") {
    virtual_time time;
    channel<int> c(3, time);
    for (int n = 1; n <= 3; ++n) CHECK(c.try_put(n + 0) == channel_status::success);
    c.close();
    CHECK(sync_wait(time, get_all(c)) == one_to(3));
    CHECK(sync_wait(time, get_all(c)).empty());
}

TEST_CASE("cancel closes the channel, and destroys each item inside once") {
    REQUIRE(counted::alive == 0);
    virtual_time time;
    channel<counted> c(3, time);
    struct body {
        static actor wait_to_put(channel<counted>& to, fate& result) {
            const bool in = co_await to.put(counted());
            result = in ? fate::success : fate::refused;
        }
    };
    for (int i = 0; i < 3; ++i) c.try_put(counted());
    fate result = fate::pending;
    {
        actor a = body::wait_to_put(c, result);
        a.start(time);
        time.run_until(t0 + 5s);
        CHECK(counted::alive == 4);
        c.cancel();
        CHECK(counted::alive == 1);
        c.cancel();
        CHECK(c.closed());
        CHECK(c.size() == 0);
        time.run();
        CHECK(result == fate::refused);
    }
    CHECK(counted::alive == 0);
    CHECK(c.try_get().status() == channel_status::closed);
    CHECK(c.try_put(counted()) == channel_status::closed);
    c.set_capacity(10);
    CHECK(c.try_put(counted()) == channel_status::closed);
    time.run_until(t0 + 7s);
    const channel_stats s = c.stats();
    CHECK(s.num_put == 3);
    CHECK(s.num_get == 0);
    CHECK(s.empty == 2s);  // from the cancel on
}

TEMPLATE_TEST_CASE("after a cancel with items inside every put is refused, and the statistics are right", "",
                   weir::measured, weir::unmeasured) {
    REQUIRE(counted::alive == 0);
    struct body {
        static actor put_one(channel<counted, TestType>& to, fate& result) {
            counted item;
            const bool in = co_await to.put(std::move(item));
            result = in ? fate::success : fate::refused;
        }
        static actor get_one(channel<counted, TestType>& from, fate& result) {
            const std::optional<counted> item = co_await from.get();
            result = item ? fate::success : fate::refused;
        }
    };
    for (std::uint64_t before = 0; before < 6; ++before) {
        for (std::uint64_t inside = 0; inside <= 3; ++inside) {
            CAPTURE(before, inside);
            virtual_time time;
            channel<counted, TestType> c(3, time);
            for (std::uint64_t i = 0; i < before; ++i) {
                c.try_put(counted());
                static_cast<void>(c.try_get());
            }
            for (std::uint64_t i = 0; i < inside; ++i) c.try_put(counted());
            REQUIRE(counted::alive == static_cast<int>(inside));
            c.cancel();
            REQUIRE(counted::alive == 0);
            for (const std::size_t capacity : {3U, 1U, 2U, 100U, 5U}) {
                c.set_capacity(capacity);
                REQUIRE(c.capacity() == capacity);
                REQUIRE(c.size() == 0);
                REQUIRE(c.closed());
                for (std::size_t i = 0; i < 2; ++i) {
                    fate put = fate::pending, get = fate::pending;
                    actor a = body::put_one(c, put), b = body::get_one(c, get);
                    a.start(time);
                    b.start(time);
                    time.run();
                    REQUIRE(put == fate::refused);
                    REQUIRE(get == fate::refused);
                    REQUIRE(c.try_put(counted()) == channel_status::closed);
                    REQUIRE(c.try_get().status() == channel_status::closed);
                    REQUIRE(c.blocking_put(counted()) == channel_status::closed);
                    REQUIRE(c.blocking_get().status() == channel_status::closed);
                }
                const channel_stats s = c.stats();
                REQUIRE(s.num_put == before + inside);
                REQUIRE(s.num_get == before);
                REQUIRE(s.size == 0);
                c.cancel();
            }
            REQUIRE(counted::alive == 0);
        }
    }
}

TEST_CASE("the destructor of an item may cancel the channel that the item was in") {
    struct canceller {
        channel<canceller>* where;
        explicit canceller(channel<canceller>* c) noexcept : where(c) {}
        canceller(canceller&& other) noexcept : where(std::exchange(other.where, nullptr)) {}
        canceller& operator=(canceller&&) = delete;
        ~canceller() {
            if (where != nullptr) where->cancel();
        }
    };
    channel<canceller> c(3);
    for (int i = 0; i < 3; ++i) c.try_put(canceller(&c));
    c.cancel();
    CHECK(c.size() == 0);
}

// ---- set_capacity -------------------------------------------------------------------------------

TEST_CASE("more capacity lets in as many waiting puts as fit, in their order") {
    virtual_time time;
    channel<int> c(1, time);
    CHECK(c.try_put(1) == channel_status::success);
    fate done[5] = {};
    std::vector<actor> actors;
    for (int i = 0; i < 5; ++i) {
        actors.push_back(put(c, i + 2, {}, done[i]));
        actors.back().start(time);
    }
    time.run_until(t0 + 2s);
    c.set_capacity(4);
    CHECK(c.size() == 4);
    CHECK(c.capacity() == 4);
    time.run_until(t0 + 3s);
    for (int i = 0; i < 5; ++i) CHECK(done[i] == (i < 3 ? fate::success : fate::pending));
    for (int n = 1; n <= 6; ++n) CHECK(*c.try_get() == n);
    time.run();
    CHECK(done[4] == fate::success);
    const channel_stats s = c.stats();
    CHECK(s.put_wait == 5 * 2s + 2 * 1s);
    CHECK(s.put_blocked == 3s);
    CHECK(s.put_waits.max() == 3s);
}

TEST_CASE("less capacity loses no item: puts wait until fewer items are inside") {
    virtual_time time;
    channel<int> c(4, time);
    for (int n = 1; n <= 3; ++n) CHECK(c.try_put(n + 0) == channel_status::success);
    c.set_capacity(1);
    CHECK(c.size() == 3);
    CHECK(c.stats().capacity == 1);
    CHECK(c.try_put(9) == channel_status::full);
    fate done = fate::pending;
    actor a = put(c, 4, {}, done);
    a.start(time);
    time.run_until(t0 + 1s);
    CHECK(*c.try_get() == 1);
    CHECK(*c.try_get() == 2);
    time.run_until(t0 + 2s);
    CHECK(done == fate::pending);
    CHECK(*c.try_get() == 3);
    time.run_until(t0 + 3s);
    CHECK(done == fate::success);
    CHECK(*c.try_get() == 4);
    c.set_capacity(3);  // there are places for 4 still
    for (int n = 1; n <= 3; ++n) CHECK(c.try_put(n + 0) == channel_status::success);
    CHECK(c.try_put(4) == channel_status::full);
    for (int n = 1; n <= 3; ++n) CHECK(*c.try_get() == n);
}

TEMPLATE_TEST_CASE("the capacity can be changed at any time, wherever the items lie in the ring", "",
                   weir::measured, weir::unmeasured) {
    std::minstd_rand random(3);
    channel<int, TestType> c(3);
    std::deque<int> model;
    std::size_t capacity = 3;
    for (int i = 0; i < 5'000; ++i) {
        switch (random() % 5) {
            case 0:
                capacity = 1 + random() % 9;
                c.set_capacity(capacity);
                break;
            case 1:
            case 2: {
                const auto s = c.try_put(i + 0);
                REQUIRE((s == channel_status::success) == (model.size() < capacity));
                if (s == channel_status::success) model.push_back(i);
                break;
            }
            default: {
                const auto got = c.try_get();
                REQUIRE(got.has_value() == !model.empty());
                if (!got) break;
                REQUIRE(*got == model.front());
                model.pop_front();
            }
        }
        REQUIRE(c.size() == model.size());
    }
}

TEMPLATE_TEST_CASE("capacities that grow and shrink around items keep them, and stay exact", "",
                   weir::measured, weir::unmeasured) {
    using box = std::unique_ptr<int>;
    for (int start = 0; start < 20; ++start) {
        CAPTURE(start);
        channel<box, TestType> c(3);
        std::deque<int> inside;
        int next = 0;
        const auto put_one = [&] {
            if (c.try_put(std::make_unique<int>(next)) != channel_status::success) return false;
            inside.push_back(next++);
            return true;
        };
        const auto get_one = [&] {
            const auto item = c.try_get();
            if (!item || **item != inside.front()) return false;
            inside.pop_front();
            return true;
        };
        for (int i = 0; i < start; ++i) REQUIRE((put_one() && get_one()));
        for (const std::size_t capacity : {3U, 8U, 5U, 2U, 16U, 1U, 7U, 6U, 33U, 4U}) {
            CAPTURE(capacity);
            c.set_capacity(capacity);
            REQUIRE(c.size() == inside.size());
            while (inside.size() >= capacity) {
                REQUIRE_FALSE(put_one());
                REQUIRE(get_one());
            }
            while (inside.size() < capacity) REQUIRE(put_one());
            REQUIRE_FALSE(put_one());
            // And around the end of the places.
            for (std::size_t i = 0; i < 2 * capacity + 1; ++i) REQUIRE((get_one() && put_one()));
            REQUIRE_FALSE(put_one());
        }
        const auto put = static_cast<std::uint64_t>(next);
        CHECK(c.stats().num_put == put);
        CHECK(c.stats().num_get == put - inside.size());
        while (!inside.empty()) REQUIRE(get_one());
        CHECK(c.try_get().status() == channel_status::empty);
    }
}

// ---- statistics ---------------------------------------------------------------------------------

TEST_CASE("the statistics of a channel are exact at any moment, open waits included") {
    for (std::uint64_t seed = 0; seed <= 5; ++seed) {
        CAPTURE(seed);
        virtual_time time(seed);
        channel<int> c(1, time, "c");
        fate f[4] = {};
        int got = 0;
        std::vector<actor> actors;
        const auto at = [&](weir::duration d) { time.run_until(t0 + d); };
        const auto start = [&](actor a) {
            actors.push_back(std::move(a));
            actors.back().start(time);
            time.run_until(time.now());
        };
        start(get(c, {}, f[0], got));
        start(get(c, {}, f[1], got));
        at(1s);
        channel_stats s = c.stats();
        CHECK(s.name == "c");
        CHECK(s.elapsed == 1s);
        CHECK(s.get_wait == 2s);     // counts each
        CHECK(s.get_blocked == 1s);  // counts once
        CHECK(s.empty == 1s);
        CHECK(s.get_waits.count() == 0);
        at(3s);
        c.try_put(1);  // to the first get
        at(5s);
        c.try_put(2);  // to the second
        at(6s);
        c.try_put(3);  // goes in
        start(put(c, 4, {}, f[2]));
        at(7s);
        start(put(c, 5, {}, f[3]));
        at(8s);
        s = c.stats();
        CHECK(s.elapsed == 8s);
        CHECK(s.empty == 6s);
        CHECK(s.get_wait == 3s + 5s);
        CHECK(s.get_blocked == 5s);
        CHECK(s.put_wait == 2s + 1s);
        CHECK(s.put_blocked == 2s);
        CHECK(s.num_put == 3);
        CHECK(s.num_get == 2);
        CHECK(s.size == 1);
        const channel_stats lap_begin = s;
        at(10s);
        CHECK(*c.try_get() == 3);  // the put of 4 goes in
        at(12s);
        CHECK(*c.try_get() == 4);
        at(15s);
        CHECK(*c.try_get() == 5);
        at(20s);
        s = c.stats();
        CHECK(s.elapsed == 20s);
        CHECK(s.empty == 6s + 5s);
        CHECK(s.get_wait == 8s);
        CHECK(s.put_wait == 4s + 5s);
        CHECK(s.put_blocked == 6s);
        CHECK(s.num_put == 5);
        CHECK(s.num_get == 5);
        CHECK(s.put_waits.count() == 5);  // those that didn't wait count as 0
        CHECK(s.put_waits.quantile(0.6) == 0s);
        CHECK(s.put_waits.sum() == 9s);
        CHECK(s.put_waits.max() == 5s);
        CHECK(s.get_waits.count() == 5);
        CHECK(s.get_waits.quantile(0.6) == 0s);
        CHECK(s.get_waits.sum() == 8s);
        CHECK(s.ave_put_wait() == 1800ms);
        CHECK(s.ave_get_gap() == 1s);
        CHECK(s.readiness() == Catch::Approx(0.45));
        const channel_stats lap = s - lap_begin;
        CHECK(lap.elapsed == 12s);
        CHECK(lap.put_wait == 2s + 4s);
        CHECK(lap.empty == 5s);
        CHECK(lap.get_wait == 0s);
        time.run();
    }
}

namespace {

// Says of each moment what has to be measured: a queue, two lines, sums that grow with the time.
class model {
  public:
    explicit model(std::size_t capacity) : capacity_(capacity) {}

    struct waiter {
        int id;
        std::int64_t since;
    };
    std::deque<int> inside;
    std::deque<waiter> puts, gets;
    std::uint64_t num_put = 0, num_get = 0;
    std::int64_t now = 0, put_wait = 0, get_wait = 0, put_blocked = 0, get_blocked = 0, empty = 0;
    std::vector<std::int64_t> put_waits, get_waits;

    void advance(std::int64_t ns) {
        now += ns;
        put_wait += ns * static_cast<std::int64_t>(puts.size());
        get_wait += ns * static_cast<std::int64_t>(gets.size());
        if (!puts.empty()) put_blocked += ns;
        if (!gets.empty()) get_blocked += ns;
        if (inside.empty()) empty += ns;
    }
    // True if it is done at once.
    bool put(int item) {
        if (!gets.empty()) {
            get_waits.push_back(now - gets.front().since);
            gets.pop_front();
            ++num_get;
        } else if (inside.size() < capacity_) {
            inside.push_back(item);
        } else {
            return false;
        }
        ++num_put;
        put_waits.push_back(0);
        return true;
    }
    bool get() {
        if (inside.empty()) return false;
        inside.pop_front();
        ++num_get;
        get_waits.push_back(0);
        admit();
        return true;
    }
    void set_capacity(std::size_t n) {
        capacity_ = n;
        admit();
    }

  private:
    void admit() {
        while (inside.size() < capacity_ && !puts.empty()) {
            put_waits.push_back(now - puts.front().since);
            inside.push_back(puts.front().id);
            puts.pop_front();
            ++num_put;
        }
    }
    std::size_t capacity_;
};

std::int64_t sum(const std::vector<std::int64_t>& v) {
    std::int64_t s = 0;
    for (const std::int64_t x : v) s += x;
    return s;
}

bool agree(const model& m, const channel_stats& s) {
    return s.elapsed.count() == m.now && s.size == m.inside.size() && s.num_put == m.num_put &&
           s.num_get == m.num_get && s.put_wait.count() == m.put_wait && s.get_wait.count() == m.get_wait &&
           s.put_blocked.count() == m.put_blocked && s.get_blocked.count() == m.get_blocked &&
           s.empty.count() == m.empty && s.put_waits.count() == m.num_put &&
           s.put_waits.sum().count() == sum(m.put_waits) && s.get_waits.count() == m.num_get &&
           s.get_waits.sum().count() == sum(m.get_waits);
}

// A thousand random events; the first after which the figures are wrong, or -1.
template <class Policy>
int compare_with_model(unsigned seed) {
    std::minstd_rand random(seed);
    manual ex;
    channel<int, Policy> c(2, ex);
    model m(2);
    struct waiting {
        std::unique_ptr<fate> result = std::make_unique<fate>(fate::pending);
        weir::stop_source source;
        std::optional<actor> coroutine;
    };
    std::deque<waiting> waiters;
    int got = 0;
    int id = 0;
    for (int i = 0; i < 1'000; ++i) {
        switch (random() % 8) {
            case 0:
            case 1: {
                ++id;
                if (c.try_put(id + 0) == channel_status::success) {
                    if (!m.put(id)) return i;
                } else if (m.inside.empty()) {
                    return i;
                }
                break;
            }
            case 2:
            case 3: {
                const int expected = m.inside.empty() ? 0 : m.inside.front();
                const auto item = c.try_get();
                if (item.has_value() != m.get() || (item && *item != expected)) return i;
                break;
            }
            case 4: {
                if (m.puts.size() > 4) break;
                waiting& w = waiters.emplace_back();
                w.coroutine.emplace(put(c, ++id, w.source.get_token(), *w.result));
                w.coroutine->start(ex);
                if (!m.put(id)) m.puts.push_back({id, m.now});
                break;
            }
            case 5: {
                if (m.gets.size() > 4) break;
                waiting& w = waiters.emplace_back();
                w.coroutine.emplace(get(c, w.source.get_token(), *w.result, got));
                w.coroutine->start(ex);
                if (!m.get()) m.gets.push_back({0, m.now});
                break;
            }
            case 6: {
                // A stop, a frame that is destroyed, or another capacity.
                std::deque<model::waiter>& line = m.puts.empty() ? m.gets : m.puts;
                if (line.empty() || random() % 3 == 0) {
                    const std::size_t n = 1 + random() % 4;
                    c.set_capacity(n);
                    m.set_capacity(n);
                    break;
                }
                // The last in line is the last coroutine that is still pending.
                for (std::size_t k = waiters.size(); k-- > 0;) {
                    if (*waiters[k].result != fate::pending) continue;
                    if (random() % 2 == 0) {
                        waiters[k].source.request_stop();
                    } else {
                        waiters[k].coroutine.reset();
                        *waiters[k].result = fate::refused;
                    }
                    break;
                }
                line.pop_back();
                break;
            }
            default: {
                const auto ns = static_cast<std::int64_t>(random() % 1'000);
                ex.advance(weir::duration(ns));
                m.advance(ns);
            }
        }
        ex.run();
        if (!agree(m, c.stats())) return i;
        while (!waiters.empty() && *waiters.front().result != fate::pending) waiters.pop_front();
    }
    return -1;
}

}  // namespace

TEST_CASE("after random operations, a channel agrees with a model of a queue with two lines of waiters") {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        CHECK(compare_with_model<weir::measured>(seed) == -1);
        CHECK(compare_with_model<weir::summed>(seed) == -1);
    }
}

TEST_CASE("the time of being empty is exact, however many items come and go, and in what order") {
    struct body {
        static task<> alternate(channel<int>& c, int items) {
            for (int round = 0; round < 10; ++round) {
                co_await weir::sleep_for(2s);
                for (int i = 0; i < items; ++i) co_await c.put(i + 0);
                co_await weir::sleep_for(3s);
                for (int i = 0; i < items; ++i) {
                    // The last but one leaves an item there.
                    if (i + 1 == items) co_await weir::sleep_for(1s);
                    const std::optional<int> n = co_await c.get();
                    if (n != i) throw std::logic_error("not in order");
                }
            }
        }
        static task<> alternate_without_waiting(channel<int>& c, int items) {
            for (int round = 0; round < 10; ++round) {
                co_await weir::sleep_for(2s);
                for (int i = 0; i < items; ++i) {
                    if (c.try_put(i + 0) != channel_status::success) co_return;
                }
                co_await weir::sleep_for(3s);
                for (int i = 0; i < items; ++i) {
                    if (i + 1 == items) co_await weir::sleep_for(1s);
                    if (*c.try_get() != i) co_return;
                }
            }
        }
        static task<> never_empty(channel<int>& c) {
            for (int i = 0; i < 10; ++i) {
                co_await c.put(i + 0);
                co_await weir::sleep_for(1s);
                co_await c.get();
                co_await weir::sleep_for(1s);
            }
        }
    };
    for (const int capacity : {1, 2, 3, 5, 64}) {
        for (int items = 1; items <= capacity; items = 2 * items + 1) {
            for (const bool waits : {true, false}) {
                CAPTURE(capacity, items, waits);
                virtual_time time;
                channel<int> c(static_cast<std::size_t>(capacity), time);
                sync_wait(time,
                          waits ? body::alternate(c, items) : body::alternate_without_waiting(c, items));
                channel_stats s = c.stats();
                CHECK(s.num_get == static_cast<std::uint64_t>(10 * items));
                CHECK(s.elapsed == 60s);
                CHECK(s.empty == 20s);
                CHECK(s.readiness() == Catch::Approx(2.0 / 3));
                CHECK(s.put_wait + s.get_wait == 0s);
                if (capacity == 1) continue;
                CHECK(c.try_put(0) == channel_status::success);
                sync_wait(time, body::never_empty(c));
                s = c.stats();
                CHECK(s.elapsed == 80s);
                CHECK(s.empty == 20s);
            }
        }
    }
}

TEST_CASE("operations that don't wait and change nothing about being empty read no clock") {
    manual ex;
    channel<int> c(4, ex);
    c.try_put(1);
    c.try_put(2);
    const int before = ex.reads;
    for (int i = 0; i < 100; ++i) {
        c.try_put(i + 0);
        static_cast<void>(c.try_get());
    }
    struct body {
        static actor put_and_get(channel<int>& to) {
            for (int i = 0; i < 100; ++i) {
                co_await to.put(i + 0);
                co_await to.get();
            }
        }
    };
    {
        actor a = body::put_and_get(c);
        a.start(ex);
        ex.run();
        CHECK(a.ended());
    }
    CHECK(c.blocking_put(1, 1s) == channel_status::success);
    CHECK(c.blocking_get(1s));
    CHECK(ex.reads == before);
}

TEST_CASE("an operation that waits, or ends or begins a time of being empty, reads the clock once") {
    manual ex;
    channel<int> c(1, ex);
    int before = ex.reads;
    CHECK(c.try_put(1) == channel_status::success);
    CHECK(ex.reads == before + 1);
    CHECK(c.try_get());
    CHECK(ex.reads == before + 2);
    fate done = fate::pending;
    int got = 0;
    actor a = get(c, {}, done, got);
    a.start(ex);
    before = ex.reads;
    ex.run();
    CHECK(ex.reads == before + 1);  // begins to wait
    CHECK(c.try_put(2) == channel_status::success);
    CHECK(ex.reads == before + 2);  // hands over
    ex.run();
    CHECK(done == fate::success);
    CHECK(ex.reads == before + 2);
}

TEST_CASE("a channel that was given no clock takes that of the first coroutine that needs one") {
    virtual_time time;
    channel<int> c(2);
    CHECK(c.try_put(1) == channel_status::success);  // by nobody's time
    CHECK(c.try_get());
    time.run_until(t0 + 10s);
    CHECK(c.stats().elapsed == 0s);
    CHECK(c.stats().num_put == 1);
    fate done = fate::pending;
    int got = 0;
    actor a = get(c, {}, done, got);
    a.start(time);
    time.run_until(t0 + 13s);
    channel_stats s = c.stats();
    CHECK(s.elapsed == 3s);
    CHECK(s.empty == 3s);
    CHECK(s.get_wait == 3s);
    CHECK(c.try_put(2) == channel_status::success);
    time.run();
    s = c.stats();
    CHECK(s.get_waits.count() == 2);
    CHECK(s.get_waits.max() == 3s);

    // One that finds an item knows that it isn't empty.
    channel<int> other(2);
    CHECK(other.try_put(1) == channel_status::success);
    CHECK(other.try_put(2) == channel_status::success);
    actor b = put(other, 3, {}, done);
    b.start(time);
    time.run_until(t0 + 20s);
    CHECK(other.stats().elapsed == 7s);
    CHECK(other.stats().empty == 0s);
    CHECK(other.stats().put_blocked == 7s);
}

TEST_CASE("a channel that doesn't measure does everything else, and reads no clock") {
    manual ex;
    channel<int, weir::unmeasured> c(1, ex, "quiet");
    fate got_it = fate::pending, put_it = fate::pending, closed = fate::pending;
    int got = 0;
    actor a = get(c, {}, got_it, got);
    a.start(ex);
    ex.run();
    CHECK(c.try_put(1) == channel_status::success);
    CHECK(c.try_put(2) == channel_status::success);
    actor b = put(c, 3, {}, put_it);
    b.start(ex);
    ex.run();
    CHECK(got_it == fate::success);
    CHECK(got == 1);
    CHECK(*c.try_get() == 2);
    ex.run();
    CHECK(put_it == fate::success);
    CHECK(*c.try_get() == 3);
    actor d = get(c, {}, closed, got);
    d.start(ex);
    ex.run();
    c.close();
    ex.run();
    CHECK(closed == fate::refused);
    const channel_stats s = c.stats();
    CHECK(s.name == "quiet");
    CHECK(s.capacity == 1);
    CHECK(s.num_put == 3);
    CHECK(s.num_get == 3);
    CHECK(s.elapsed == 0s);
    CHECK(s.get_waits.empty());
    CHECK(ex.reads == 0);
}

// ---- memory -------------------------------------------------------------------------------------

TEST_CASE("a channel allocates nothing after its constructor but in set_capacity") {
    manual ex;
    channel<int> c(2, ex, "c");
    weir::stop_source source;
    struct body {
        static actor put_many(channel<int>& to, int times, weir::stop_token stop) {
            for (int i = 0; i < times; ++i) co_await to.put(i + 0, stop);
        }
        static actor get_many(channel<int>& from, int& count, weir::stop_token stop) {
            while (const auto n = co_await from.get(stop)) ++count;
        }
    };
    int count = 0;
    fate refused = fate::pending;
    actor first = body::put_many(c, 100, source.get_token());
    actor second = body::put_many(c, 100, {});
    actor getter = body::get_many(c, count, source.get_token());
    actor late = put(c, 0, {}, refused);

    const long before = allocations.load();
    first.start(ex);
    second.start(ex);
    ex.run();  // both wait for room
    getter.start(ex);
    ex.run();  // the getter waits for items
    for (int i = 0; i < 10; ++i) {
        c.try_put(i + 0);
        ex.run();
    }
    source.request_stop();
    ex.run();
    c.blocking_put(1);
    c.blocking_put(2);
    static_cast<void>(c.blocking_get());
    static_cast<void>(c.try_get());
    c.try_put(1);
    c.try_put(2);
    late.start(ex);
    ex.run();
    c.cancel();
    c.close();
    ex.run();
    const channel_stats s = c.stats();  // its name is short
    const long after = allocations.load();

    c.set_capacity(50);
    const long grown = allocations.load();

    CHECK(after == before);
    CHECK((grown > after || grown == 0));  // 0: not counted here, see above
    CHECK(count == 210);
    CHECK(first.ended());
    CHECK(second.ended());
    CHECK(getter.ended());
    CHECK(refused == fate::refused);
    CHECK(s.num_get == 212);
}
