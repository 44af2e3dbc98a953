#include <weir/channel/any_channel.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/item_size.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/platform/parking.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using box = std::unique_ptr<int>;
using weir::channel;
using weir::channel_stats;
using weir::channel_status;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using weir::when_all;

namespace {

class limit final : public weir::detail::byte_budget {
  public:
    using byte_budget::byte_budget;
    void wake_sources() noexcept override { ++told; }
    int told = 0;
};

}  // namespace

TEST_CASE("code that doesn't know the item type reads a channel's name and statistics") {
    weir::virtual_time time;
    channel<int> typed(3, time, "decode");
    auto& any = weir::detail::base_of(typed);
    CHECK(any.name() == "decode");
    CHECK(typed.try_put(1) == channel_status::success);
    const weir::channel_stats stats = any.stats(0);
    CHECK(stats.name == "decode");
    CHECK(stats.capacity == 3);
    CHECK(stats.num_put == 1);
}

TEST_CASE("a channel of a run measures from the beginning of the run up to the given instant") {
    weir::virtual_time time;
    channel<int> typed(1, time, "q");
    auto& any = weir::detail::base_of(typed);
    time.run_until(weir::time_point() + 5s);
    any.start_measuring(std::chrono::nanoseconds(2s).count());
    const weir::channel_stats stats = any.stats(std::chrono::nanoseconds(6s).count());
    CHECK(stats.elapsed == 4s);
    CHECK(stats.empty == 4s);
}

TEST_CASE("a channel that is cancelled is empty, and takes nothing any more") {
    weir::virtual_time time;
    channel<std::shared_ptr<int>, weir::unmeasured> typed(2, time, "q");
    const auto item = std::make_shared<int>(1);
    auto copy = item;
    CHECK(typed.try_put(std::move(copy)) == channel_status::success);
    CHECK(item.use_count() == 2);
    auto& any = weir::detail::base_of(typed);
    any.cancel();
    CHECK(item.use_count() == 1);
    CHECK(typed.try_put(std::make_shared<int>(2)) == channel_status::closed);
}

TEST_CASE("a channel's capacity is changed, and one of 0 refused, without its type") {
    weir::virtual_time time;
    channel<int> typed(1, time, "q");
    auto& any = weir::detail::base_of(typed);
    any.set_capacity(2);
    CHECK(typed.try_put(1) == channel_status::success);
    CHECK(typed.try_put(2) == channel_status::success);
    CHECK(typed.try_put(3) == channel_status::full);
    CHECK_THROWS_AS(any.set_capacity(0), std::invalid_argument);
}

TEST_CASE("the bytes in a channel count for the budget of the run, and for the sources of the channel") {
    weir::virtual_time time;
    limit budget(2 * sizeof(int));
    const std::uint64_t one = budget.add_source(), other = budget.add_source();
    channel<int> typed(4, time, "q");
    auto& any = weir::detail::base_of(typed);
    any.set_budget(&budget, one);
    CHECK(any.sources() == one);
    CHECK(typed.try_put(1) == channel_status::success);
    CHECK(typed.try_put(2) == channel_status::success);
    CHECK(budget.is_spent(one));
    CHECK_FALSE(budget.is_spent(other));
    CHECK(typed.try_get());
    CHECK(budget.told == 1);
    CHECK_FALSE(budget.is_spent(one));
}

TEST_CASE("a channel destroyed through its base destroys the items inside") {
    weir::virtual_time time;
    const auto item = std::make_shared<int>(1);
    auto* const typed = new channel<std::shared_ptr<int>>(2, time, "q");
    CHECK(typed->try_put(std::shared_ptr<int>(item)) == channel_status::success);
    std::unique_ptr<weir::detail::any_channel<weir::measured>> owner(&weir::detail::base_of(*typed));
    CHECK(item.use_count() == 2);
    owner.reset();
    CHECK(item.use_count() == 1);
}

TEST_CASE("the channel of a consumer records when the first item was got, by every kind of get") {
    weir::virtual_time time;
    const auto ns = [](std::chrono::nanoseconds at) { return at.count(); };
    for (const std::size_t capacity : {1U, 2U, 8U}) {
        for (const int way : {0, 1, 2, 3}) {
            CAPTURE(capacity, way);
            channel<int> typed(capacity, time, "q");
            auto& any = weir::detail::base_of(typed);
            const auto begin = time.now();
            any.start_measuring(ns(begin.time_since_epoch()), true);
            const auto takes = [](auto& from, int how) -> weir::task<> {
                std::vector<int> some(1);
                if (how == 0) static_cast<void>(co_await from.get());
                if (how == 1) static_cast<void>(co_await from.get_some(some));
                if (how == 2) static_cast<void>(from.try_get());
                if (how == 3) static_cast<void>(from.blocking_get(weir::duration(0)));
            };
            const auto does = [&]() -> weir::task<> {
                co_await weir::sleep_for(1s);
                static_cast<void>(co_await typed.put(1));
                co_await weir::sleep_for(2s);
                CHECK_FALSE(any.first_got());
                co_await takes(typed, way);
                co_await weir::sleep_for(4s);
                static_cast<void>(co_await typed.put(2));
                co_await takes(typed, way);
            };
            weir::sync_wait(time, does());
            CHECK(any.first_got() == ns(begin.time_since_epoch() + 3s));
            CHECK(any.stats({}).num_get == 2);
        }
    }
}

TEST_CASE("a first item for a waiting consumer is got when it is put; a discarded item is never got") {
    weir::virtual_time time;
    channel<int> handed(2, time, "q");
    channel<int> discarded(2, time, "q");
    channel<int> unasked(2, time, "q");
    channel<int, weir::unmeasured> unmeasured(2, time, "q");
    weir::detail::base_of(handed).start_measuring(0, true);
    weir::detail::base_of(discarded).start_measuring(0, true);
    weir::detail::base_of(unasked).start_measuring(0);
    weir::detail::base_of(unmeasured).start_measuring(0, true);
    const auto puts = [&]() -> weir::task<> {
        co_await weir::sleep_for(3s);
        static_cast<void>(co_await handed.put(1));
        static_cast<void>(co_await discarded.put(1));
        static_cast<void>(co_await unasked.put(1));
        static_cast<void>(co_await unmeasured.put(1));
    };
    const auto gets = [&]() -> weir::task<> {
        static_cast<void>(co_await handed.get());
        static_cast<void>(co_await unasked.get());
        static_cast<void>(co_await unmeasured.get());
        discarded.cancel();
    };
    weir::sync_wait(time, weir::when_all(gets(), puts()));
    CHECK(weir::detail::base_of(handed).first_got() == std::chrono::nanoseconds(3s).count());
    CHECK_FALSE(weir::detail::base_of(discarded).first_got());
    CHECK_FALSE(weir::detail::base_of(unasked).first_got());
    CHECK_FALSE(weir::detail::base_of(unmeasured).first_got());
}

namespace {

const weir::time_point t0{};

}  // namespace

TEST_CASE("a thread whose time is over still waits for an answer that is under way") {
    // Two wait for an item when the channel is closed: a coroutine, which is woken first, and a thread. While
    // the coroutine is being posted, the thread's time is over, and it finds that it has been answered.
    class slow_to_post final : public weir::executor {
      public:
        explicit slow_to_post(std::atomic<bool>& returned) : returned_(&returned) {}
        void post(std::coroutine_handle<>) noexcept override {
            closing_.set();
            while (!late_.wait()) {
            }
            for (int i = 0; i < 10'000 && !*returned_; ++i) std::this_thread::yield();
            early_ = returned_->load();
        }
        void add(weir::timer&) noexcept override {}
        void cancel(weir::timer&) noexcept override {}
        weir::time_point now() const noexcept override { return t0 + weir::duration(hours_.load()); }
        bool drive(flag&, weir::time_point) override {
            waiting_.set();
            while (!closing_.wait()) {
            }
            hours_ = 10;
            late_.set();
            return true;
        }
        void wait_for_the_thread() {
            while (!waiting_.wait()) {
            }
        }
        bool returned_early() const noexcept { return early_; }

      private:
        std::atomic<bool>* returned_;
        std::atomic<std::int64_t> hours_{0};
        weir::detail::parker waiting_, closing_, late_;
        bool early_ = false;
    };
    std::atomic<bool> returned{false};
    slow_to_post ex(returned);
    channel<int> c(1, ex);
    const auto get = [](channel<int>& from) -> actor { static_cast<void>(co_await from.get()); };
    actor first = get(c);
    first.handle.promise().env().executor = &ex;
    first.handle.resume();
    channel_status status = channel_status::success;
    std::thread second([&] {
        status = c.blocking_get(weir::duration(5)).status();
        returned = true;
    });
    ex.wait_for_the_thread();
    c.close();
    second.join();
    CHECK_FALSE(ex.returned_early());
    CHECK(status == channel_status::closed);
}

TEST_CASE("a thread that blocks on virtual time waits in that time, and loses nothing when it is over") {
    virtual_time time;
    channel<box> c(1, time);
    struct body {
        static task<> put_at(weir::time_point t, channel<box>& to, int n) {
            co_await weir::sleep_until(t);
            co_await to.put(std::make_unique<int>(n));
        }
        static task<int> get_at(weir::time_point t, channel<box>& from) {
            co_await weir::sleep_until(t);
            const std::optional<box> b = co_await from.get();
            co_return *b ? **b : -1;
        }
    };
    class nobody final : public weir::detail::detached_task_owner {
        void ended() noexcept override {}
    } owner;
    SECTION("in a get") {
        auto put = body::put_at(t0 + 10s, c, 1);
        auto detached_task = weir::detail::make_detached_task<void, task<>>(put);
        detached_task.start(time, nullptr, owner);
        CHECK(c.blocking_get(4s).status() == channel_status::timed_out);
        CHECK(time.now() == t0 + 4s);
        CHECK(c.blocking_get(6s).status() == channel_status::timed_out);  // is due at that instant
        CHECK(time.now() == t0 + 10s);
        CHECK(c.blocking_get(0s).status() == channel_status::timed_out);
        auto got = c.blocking_get(1s);
        REQUIRE(got);
        CHECK(**got == 1);
        CHECK(time.now() == t0 + 10s);
        CHECK(c.blocking_get(-1s).status() == channel_status::timed_out);
        CHECK(c.blocking_get(weir::duration::min()).status() == channel_status::timed_out);
        CHECK(time.now() == t0 + 10s);
    }
    SECTION("in a put") {
        auto get = body::get_at(t0 + 10s, c);
        auto detached_task = weir::detail::make_detached_task<int, task<int>>(get);
        detached_task.start(time, nullptr, owner);
        CHECK(c.blocking_put(std::make_unique<int>(1)) == channel_status::success);
        CHECK(time.now() == t0);
        box item = std::make_unique<int>(2);
        CHECK(c.blocking_put(std::move(item), 4s) == channel_status::timed_out);
        REQUIRE(item);
        CHECK(*item == 2);
        CHECK(time.now() == t0 + 4s);
        CHECK(c.blocking_put(std::move(item)) == channel_status::success);
        CHECK_FALSE(item);
        CHECK(time.now() == t0 + 10s);
        time.run();
        CHECK(detached_task.take() == 1);
        CHECK(**c.blocking_get() == 2);
    }
    const weir::channel_stats s = c.stats();
    CHECK(s.put_blocked + s.get_blocked == 10s);
    CHECK(s.put_wait + s.get_wait == 10s);
}

TEST_CASE("a thread that would block for ever on virtual time gets a deadlock error, and may try again") {
    virtual_time time;
    channel<int> c(1, time);
    CHECK_THROWS_AS(c.blocking_get(), weir::deadlock_error);
    CHECK(c.try_put(1) == channel_status::success);
    int item = 2;
    CHECK_THROWS_AS(c.blocking_put(std::move(item)), weir::deadlock_error);
    CHECK(item == 2);
    CHECK(c.size() == 1);
    CHECK(*c.blocking_get() == 1);
    CHECK(c.size() == 0);
    c.close();
    CHECK(c.blocking_get().status() == channel_status::closed);
    CHECK(c.blocking_put(3) == channel_status::closed);
}

TEST_CASE("a coroutine that blocks its thread runs the executor that it keeps from running") {
    struct body {
        static task<int> sum(channel<int>& c) {
            int s = 0;
            for (;;) {
                auto n = c.blocking_get();
                if (!n) break;
                s += *n;
            }
            co_return s;
        }
        static task<> put(channel<int>& c, int n) {
            for (int i = 1; i <= n; ++i) {
                co_await weir::sleep_for(1us);
                co_await c.put(i + 0);
            }
            c.close();
        }
        static task<> block_on_put(channel<int>& c, int n) {
            for (int i = 1; i <= n; ++i) {
                if (c.blocking_put(i + 0) != channel_status::success) co_return;
            }
            c.close();
            co_return;
        }
        static task<int> get(channel<int>& c) {
            int s = 0;
            while (const auto n = co_await c.get()) s += *n;
            co_return s;
        }
    };
    channel<int> first(2), second(2), third(2), fourth(2);
    virtual_time time;
    CHECK(std::get<0>(sync_wait(time, when_all(body::sum(first), body::put(first, 100)))) == 5'050);
    CHECK(time.now() == t0 + 100us);
    CHECK(std::get<1>(sync_wait(time, when_all(body::block_on_put(second, 100), body::get(second)))) ==
          5'050);
    weir::thread_pool pool(1);
    CHECK(std::get<0>(sync_wait(pool, when_all(body::sum(third), body::put(third, 100)))) == 5'050);
    CHECK(std::get<1>(sync_wait(pool, when_all(body::block_on_put(fourth, 100), body::get(fourth)))) ==
          5'050);
}

namespace {

// A loop that is destroyed by the first turn that finds no coroutine ready. Its memory is then zeros: a later
// call of a virtual function crashes.
class short_lived_loop final : public weir::executor {
  public:
    explicit short_lived_loop(std::unique_ptr<short_lived_loop>& home) noexcept : home_(home) {}
    void post(std::coroutine_handle<> h) noexcept override { ready_ = h; }
    void add(weir::timer&) noexcept override { std::terminate(); }
    void cancel(weir::timer&) noexcept override { std::terminate(); }
    weir::time_point now() const noexcept override { return {}; }
    bool drive(flag&, weir::time_point) override {
        if (const auto h = std::exchange(ready_, nullptr)) {
            resume(h);
        } else {
            home_.reset();
        }
        return true;
    }

    static void* operator new(std::size_t size) {
        if (size > sizeof memory) throw std::bad_alloc();
        return memory;
    }
    static void operator delete(void* p, std::size_t size) noexcept { std::memset(p, 0, size); }

  private:
    alignas(std::max_align_t) static inline unsigned char memory[1024];
    std::unique_ptr<short_lived_loop>& home_;
    std::coroutine_handle<> ready_;
};

}  // namespace

TEST_CASE(
    "a thread that waits with a limit gives up in time if the executor of the channel's clock is destroyed") {
    weir::channel<int> c(4);
    std::unique_ptr<short_lived_loop> loop;
    loop.reset(new short_lived_loop(loop));
    const auto put_one = [](weir::channel<int>& to) -> task<> { static_cast<void>(co_await to.put(1)); };
    weir::sync_wait(*loop, put_one(c));  // the put binds the clock
    CHECK(c.blocking_get(1ms).value() == 1);
    REQUIRE(loop != nullptr);
    CHECK(c.blocking_get(1ms).status() == weir::channel_status::timed_out);
    CHECK(loop == nullptr);
    CHECK(c.blocking_get(0ms).status() == weir::channel_status::timed_out);
}

TEST_CASE("threads without any executor put and get, block, and give up") {
    channel<int> c(1);
    CHECK(c.blocking_get(0ns).status() == channel_status::timed_out);
    CHECK(c.blocking_get(1us).status() == channel_status::timed_out);
    CHECK(c.blocking_put(1) == channel_status::success);
    CHECK(c.blocking_put(2, 1us) == channel_status::timed_out);
    CHECK(*c.blocking_get() == 1);
    int sum = 0;
    std::thread getter([&] {
        for (;;) {
            const auto n = c.blocking_get();
            if (!n) break;
            sum += *n;
        }
    });
    for (int i = 1; i <= 1'000; ++i) c.blocking_put(i + 0);
    c.close();
    getter.join();
    CHECK(sum == 500'500);
    CHECK(c.blocking_put(1) == channel_status::closed);
    CHECK(c.stats().num_get == 1'001);
}

TEST_CASE("threads that block are woken when the channel is closed") {
    for (int i = 0; i < 20; ++i) {
        channel<int> empty(1), full(1);
        CHECK(full.try_put(0) == channel_status::success);
        std::atomic<int> closed{0}, kept{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&] {
                if (empty.blocking_get(1h).status() == channel_status::closed) ++closed;
            });
            threads.emplace_back([&] {
                int item = 5;
                if (full.blocking_put(std::move(item)) == channel_status::closed) ++closed;
                if (item == 5) ++kept;
            });
        }
        if (i % 2 == 0) std::this_thread::yield();
        empty.close();
        full.close();
        for (std::thread& t : threads) t.join();
        REQUIRE(closed == 4);
        REQUIRE(kept == 2);
        REQUIRE(full.size() == 1);
    }
}

namespace {

// A numbered item that says itself how many bytes it has.
class parcel {
  public:
    parcel(int number, std::size_t bytes) noexcept : number_(number), bytes_(bytes) {}
    parcel(parcel&&) noexcept = default;
    parcel& operator=(parcel&&) noexcept = default;
    int number() const noexcept { return number_; }
    std::size_t bytes() const noexcept { return bytes_; }

  private:
    int number_;
    std::size_t bytes_;
};

}  // namespace

template <>
struct weir::item_size<parcel> {
    static std::size_t of(const parcel& p) noexcept { return p.bytes(); }
};

namespace {

enum class fate { pending, success, refused };

template <class Policy>
actor put(channel<parcel, Policy>& c, int number, std::size_t bytes, weir::stop_token stop, fate& result) {
    parcel p(number, bytes);
    const bool in = co_await c.put(std::move(p), std::move(stop));
    result = in ? fate::success : fate::refused;
}

template <class Policy>
actor get(channel<parcel, Policy>& c, weir::stop_token stop, fate& result, int& got) {
    const std::optional<parcel> p = co_await c.get(std::move(stop));
    result = p ? fate::success : fate::refused;
    if (p) got = p->number();
}

template <class Policy>
channel_status try_put(channel<parcel, Policy>& c, int number, std::size_t bytes) {
    parcel p(number, bytes);
    return c.try_put(std::move(p));
}

// Lets go on whoever can.
void settle(virtual_time& time) { time.run_until(time.now()); }

// One operation under way.
struct operation {
    std::unique_ptr<fate> result = std::make_unique<fate>(fate::pending);
    std::unique_ptr<int> got = std::make_unique<int>(0);
    weir::stop_source source;
    std::optional<actor> coroutine;
    bool is_put = false;
    int number = 0;
};

template <class Policy>
operation begin_put(virtual_time& time, channel<parcel, Policy>& c, int number, std::size_t bytes) {
    operation o;
    o.is_put = true;
    o.number = number;
    o.coroutine.emplace(put(c, number, bytes, o.source.get_token(), *o.result));
    o.coroutine->start(time);
    settle(time);
    return o;
}
template <class Policy>
operation begin_get(virtual_time& time, channel<parcel, Policy>& c) {
    operation o;
    o.coroutine.emplace(get(c, o.source.get_token(), *o.result, *o.got));
    o.coroutine->start(time);
    settle(time);
    return o;
}

// A queue with a limit in items and one in bytes, and two lines, served first come, first served.
class model {
  public:
    struct entry {
        int number;
        std::size_t bytes;
    };
    std::deque<entry> inside;
    std::deque<entry> puts;
    std::deque<int> gets;  // which operation
    std::size_t capacity = 3;
    std::size_t most = 0;
    std::uint64_t num_put = 0, num_get = 0;
    std::int64_t now = 0, put_wait = 0, get_wait = 0, empty = 0;

    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const entry& e : inside) sum += e.bytes;
        return sum;
    }
    void advance(std::int64_t ns) {
        now += ns;
        put_wait += ns * static_cast<std::int64_t>(puts.size());
        get_wait += ns * static_cast<std::int64_t>(gets.size());
        if (inside.empty()) empty += ns;
    }
    bool has_room(const entry& e) const {
        if (inside.size() >= capacity) return false;
        return most == 0 || inside.empty() || (bytes() < most && bytes() + e.bytes <= most);
    }
    // True if it is in at once.
    bool put(const entry& e) {
        if (!gets.empty()) {
            gets.pop_front();
            ++num_put;
            ++num_get;
            return true;
        }
        if (!puts.empty() || !has_room(e)) return false;
        inside.push_back(e);
        ++num_put;
        return true;
    }
    std::optional<entry> get() {
        if (inside.empty()) return std::nullopt;
        const entry e = inside.front();
        inside.pop_front();
        ++num_get;
        admit();
        return e;
    }
    void admit() {
        while (!puts.empty() && has_room(puts.front())) {
            inside.push_back(puts.front());
            puts.pop_front();
            ++num_put;
        }
    }
};

template <class Policy>
bool agree(const model& m, const channel_stats& s) {
    if (s.size != m.inside.size() || s.num_put != m.num_put || s.num_get != m.num_get) return false;
    if (s.bytes != (m.most == 0 ? 0 : m.bytes()) || s.max_bytes != m.most) return false;
    if constexpr (!Policy::statistics) return true;
    return s.put_wait.count() == m.put_wait && s.get_wait.count() == m.get_wait &&
           s.empty.count() == m.empty && s.elapsed.count() == m.now;
}

// Two thousand random events; the first after which anything is wrong, or -1.
template <class Policy>
int compare_with_model(unsigned seed) {
    std::minstd_rand random(seed);
    virtual_time time;
    channel<parcel, Policy> c(3, time);
    model m;
    std::deque<operation> under_way;
    int number = 0;
    const auto size = [&random]() -> std::size_t { return random() % 5 == 0 ? 0 : random() % 40; };
    const auto pending = [&under_way](bool is_put) {
        std::vector<operation*> all;
        for (operation& o : under_way) {
            if (*o.result == fate::pending && o.is_put == is_put) all.push_back(&o);
        }
        return all;
    };
    for (int i = 0; i < 2'000; ++i) {
        switch (random() % 10) {
            case 0: {
                const model::entry e{++number, size()};
                const bool in = try_put(c, e.number, e.bytes) == channel_status::success;
                if (in != m.put(e)) return i;
                break;
            }
            case 1:
            case 2: {
                const auto expected = m.get();
                const auto got = c.try_get();
                if (got.has_value() != expected.has_value() || (got && got->number() != expected->number))
                    return i;
                break;
            }
            case 3:
            case 4: {
                if (m.puts.size() > 4) break;
                const model::entry e{++number, size()};
                under_way.push_back(begin_put(time, c, e.number, e.bytes));
                if (!m.put(e)) m.puts.push_back(e);
                break;
            }
            case 5: {
                if (m.gets.size() > 4) break;
                under_way.push_back(begin_get(time, c));
                if (const auto e = m.get()) {
                    if (*under_way.back().got != e->number) return i;
                } else {
                    m.gets.push_back(0);
                }
                break;
            }
            case 6: {
                // Anyone who waits gives up, the first in the line or another.
                const bool of_puts = !m.puts.empty();
                const auto waiting = pending(of_puts);
                if (waiting.size() != (of_puts ? m.puts.size() : m.gets.size())) return i;
                if (waiting.empty()) break;
                const std::size_t k = random() % waiting.size();
                if (random() % 2 == 0) {
                    waiting[k]->source.request_stop();
                } else {
                    waiting[k]->coroutine.reset();
                    *waiting[k]->result = fate::refused;
                }
                const auto place = static_cast<std::ptrdiff_t>(k);
                if (of_puts) {
                    m.puts.erase(m.puts.begin() + place);
                    m.admit();
                } else {
                    m.gets.erase(m.gets.begin() + place);
                }
                break;
            }
            case 7: {
                m.capacity = 1 + random() % 5;
                c.set_capacity(m.capacity);
                m.admit();
                break;
            }
            case 8: {
                m.most = random() % 3 == 0 ? 0 : 1 + random() % 60;
                c.set_max_bytes(m.most);
                m.admit();
                break;
            }
            default: {
                const auto ns = static_cast<std::int64_t>(random() % 1'000);
                time.run_until(time.now() + weir::duration(ns));
                m.advance(ns);
            }
        }
        settle(time);
        if (pending(true).size() != m.puts.size() || pending(false).size() != m.gets.size()) return i;
        if (!agree<Policy>(m, c.stats())) return i;
        while (!under_way.empty() && *under_way.front().result != fate::pending) under_way.pop_front();
    }
    c.cancel();
    settle(time);
    const channel_stats s = c.stats();
    const bool counted = s.num_put == m.num_put && s.num_get == m.num_get;
    return counted && s.num_discarded == m.inside.size() && s.bytes == 0 && s.size == 0 ? -1 : 2'000;
}

}  // namespace

TEST_CASE("a channel with a limit in bytes takes items up to that limit, also if places are free") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(10);
    CHECK(try_put(c, 1, 4) == channel_status::success);
    CHECK(try_put(c, 2, 6) == channel_status::success);
    CHECK(try_put(c, 3, 1) == channel_status::full);
    CHECK(try_put(c, 4, 0) == channel_status::full);
    CHECK(c.stats().bytes == 10);
    CHECK(c.stats().max_bytes == 10);
    CHECK(c.try_get()->number() == 1);
    CHECK(c.stats().bytes == 6);
    CHECK(try_put(c, 5, 5) == channel_status::full);
    CHECK(try_put(c, 6, 4) == channel_status::success);
    CHECK(c.try_get()->number() == 2);
    CHECK(c.try_get()->number() == 6);
    CHECK(c.stats().bytes == 0);
}

TEST_CASE("the limit in items holds beside the one in bytes") {
    virtual_time time;
    channel<parcel> c(2, time);
    c.set_max_bytes(100);
    CHECK(try_put(c, 1, 1) == channel_status::success);
    CHECK(try_put(c, 2, 1) == channel_status::success);
    CHECK(try_put(c, 3, 1) == channel_status::full);
}

TEST_CASE("an item larger than the limit goes in when the channel is empty, and stays alone there") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(10);
    CHECK(try_put(c, 1, 99) == channel_status::success);
    CHECK(try_put(c, 2, 0) == channel_status::full);
    auto large = begin_put(time, c, 3, 50);
    CHECK(*large.result == fate::pending);
    CHECK(c.stats().bytes == 99);
    CHECK(c.try_get()->number() == 1);
    settle(time);
    CHECK(*large.result == fate::success);
    CHECK(c.stats().bytes == 50);
}

TEST_CASE("an item that is handed to a waiting get ignores the limit in bytes") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(10);
    auto first = begin_get(time, c);
    auto second = begin_get(time, c);
    CHECK(try_put(c, 1, 1'000) == channel_status::success);
    CHECK(try_put(c, 2, 1'000) == channel_status::success);
    settle(time);
    CHECK(*first.got == 1);
    CHECK(*second.got == 2);
    CHECK(c.stats().bytes == 0);
}

TEST_CASE("a small item doesn't overtake a large one that waits for room") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(10);
    CHECK(try_put(c, 1, 8) == channel_status::success);
    auto large = begin_put(time, c, 2, 9);
    auto small = begin_put(time, c, 3, 1);
    CHECK(*large.result == fate::pending);
    CHECK(*small.result == fate::pending);
    CHECK(try_put(c, 4, 1) == channel_status::full);
    parcel p(5, 1);
    CHECK(c.blocking_put(std::move(p), 1s) == channel_status::timed_out);
    CHECK(c.try_get()->number() == 1);
    CHECK(c.try_get()->number() == 2);
    CHECK(c.try_get()->number() == 3);
    settle(time);
}

TEST_CASE("a put that gives up admits the puts behind it that have room") {
    for (const int how : {0, 1, 2}) {
        virtual_time time;
        channel<parcel> c(10, time);
        c.set_max_bytes(10);
        CHECK(try_put(c, 1, 8) == channel_status::success);
        std::optional<operation> large;
        std::optional<operation> small;
        if (how < 2) {
            large.emplace(begin_put(time, c, 2, 9));
            small.emplace(begin_put(time, c, 3, 1));
            if (how == 0) {
                large->source.request_stop();
            } else {
                large.reset();
            }
        } else {
            // A thread that waits at most 5 s, and while it does another comes behind it.
            const auto later = [](virtual_time& t, channel<parcel>& to,
                                  std::optional<operation>& o) -> task<> {
                co_await weir::sleep_for(1s);
                o.emplace();
                o->is_put = true;
                o->coroutine.emplace(put(to, 3, 1, o->source.get_token(), *o->result));
                o->coroutine->start(t);
                co_await weir::sleep_for(1s);
            };
            std::exception_ptr none;
            actor starter = [](virtual_time& t, channel<parcel>& to, std::optional<operation>& o,
                               auto f) -> actor {
                weir::task<> work = f(t, to, o);
                co_await std::move(work);
            }(time, c, small, later);
            starter.start(time);
            parcel p(2, 9);
            CHECK(c.blocking_put(std::move(p), 5s) == channel_status::timed_out);
            CHECK(time.now() == weir::time_point(5s));
        }
        settle(time);
        CHECK(*small->result == fate::success);
        CHECK(c.stats().bytes == 9);
        CHECK(c.stats().size == 2);
    }
}

TEST_CASE("a limit can be set, raised, lowered and removed while items are inside, and counts these") {
    virtual_time time;
    channel<parcel> c(10, time);
    CHECK(try_put(c, 1, 30) == channel_status::success);
    CHECK(try_put(c, 2, 30) == channel_status::success);
    CHECK(c.stats().bytes == 0);  // not counted
    c.set_max_bytes(70);
    CHECK(c.stats().bytes == 60);
    CHECK(try_put(c, 3, 11) == channel_status::full);
    CHECK(try_put(c, 3, 10) == channel_status::success);
    auto waits = begin_put(time, c, 4, 5);
    c.set_max_bytes(75);
    settle(time);
    CHECK(*waits.result == fate::success);
    CHECK(c.stats().bytes == 75);
    c.set_max_bytes(10);
    auto more = begin_put(time, c, 5, 1);
    CHECK(c.try_get()->number() == 1);
    CHECK(c.try_get()->number() == 2);
    settle(time);
    CHECK(*more.result == fate::pending);
    c.set_max_bytes(0);
    settle(time);
    CHECK(*more.result == fate::success);
    CHECK(c.stats().bytes == 0);
    CHECK(c.stats().max_bytes == 0);
    CHECK(c.try_get()->number() == 3);
    // Counted anew: 4 and 5 are inside.
    c.set_max_bytes(100);
    CHECK(c.stats().bytes == 6);
    CHECK(c.try_get()->number() == 4);
    CHECK(c.try_get()->number() == 5);
    CHECK(c.stats().bytes == 0);
}

TEST_CASE("after close the items inside still count in bytes, after cancel they don't") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(50);
    CHECK(try_put(c, 1, 20) == channel_status::success);
    CHECK(try_put(c, 2, 20) == channel_status::success);
    auto waits = begin_put(time, c, 3, 40);
    c.close();
    settle(time);
    CHECK(*waits.result == fate::refused);
    CHECK(c.stats().bytes == 40);
    CHECK(c.try_get()->number() == 1);
    CHECK(c.stats().bytes == 20);
    c.cancel();
    CHECK(c.stats().bytes == 0);
    CHECK(try_put(c, 4, 1) == channel_status::closed);
    c.set_max_bytes(10);
    CHECK(c.stats().bytes == 0);
}

TEST_CASE("threads wait for bytes as for places") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(10);
    parcel first(1, 10);
    CHECK(c.blocking_put(std::move(first)) == channel_status::success);
    parcel second(2, 10);
    CHECK(c.blocking_put(std::move(second), 3s) == channel_status::timed_out);
    CHECK(time.now() == weir::time_point(3s));
    CHECK(c.blocking_get()->number() == 1);
    parcel third(3, 10);
    CHECK(c.blocking_put(std::move(third), 3s) == channel_status::success);
    CHECK(c.stats().bytes == 10);
}

TEST_CASE("after random operations, a channel with a limit in bytes agrees with a model") {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        CHECK(compare_with_model<weir::measured>(seed) == -1);
        CHECK(compare_with_model<weir::unmeasured>(seed) == -1);
    }
}

TEST_CASE("several channels count for one budget, which is told when there is room again") {
    virtual_time time;
    limit both(100);
    channel<parcel> a(10, time), b(10, time);
    weir::detail::base_of(a).set_budget(&both);
    weir::detail::base_of(b).set_budget(&both);
    CHECK(try_put(a, 1, 60) == channel_status::success);
    CHECK_FALSE(both.is_spent());
    CHECK(try_put(b, 2, 60) == channel_status::success);
    CHECK(both.is_spent());
    // It refuses nothing: who makes items asks it before.
    CHECK(try_put(b, 3, 60) == channel_status::success);
    CHECK(b.try_get()->number() == 2);
    CHECK(both.told == 0);
    CHECK(a.try_get()->number() == 1);
    CHECK(both.told == 1);
    CHECK_FALSE(both.is_spent());
    // A limit of its own that comes and goes changes nothing about that.
    CHECK(b.stats().bytes == 60);
    b.set_max_bytes(70);
    CHECK(b.stats().bytes == 60);
    b.set_max_bytes(0);
    CHECK(b.stats().bytes == 60);
    CHECK(try_put(a, 4, 40) == channel_status::success);
    CHECK(both.is_spent());
    b.cancel();
    CHECK(both.told == 2);
    CHECK_FALSE(both.is_spent());
    a.cancel();
    CHECK(both.told == 2);
    CHECK(a.stats().bytes + b.stats().bytes == 0);
}

TEST_CASE("a channel holds pointers to arrays, to void and to incomplete types") {
    class incomplete;
    virtual_time time;
    channel<std::unique_ptr<int[]>> arrays(1, time);
    channel<std::shared_ptr<int[]>> shared(1, time);
    channel<std::shared_ptr<void>> anything(1, time);
    channel<std::shared_ptr<incomplete>> hidden(1, time);
    CHECK(arrays.try_put(std::make_unique<int[]>(3)) == channel_status::success);
    CHECK(anything.try_put(std::make_shared<int>(3)) == channel_status::success);
    CHECK(hidden.try_put(nullptr) == channel_status::success);
    CHECK(shared.try_put(nullptr) == channel_status::success);
}

TEST_CASE("the limits in bytes of a queue and of the sink behind it may be as large as each may be") {
    weir::virtual_time time;
    weir::channel<int> merged(2, time, "work");
    auto& queue = weir::detail::base_of(merged);
    queue.set_max_bytes(SIZE_MAX / 2);
    queue.merge_sink("sink", 2 + 1 + 1, 1, SIZE_MAX / 2);
    CHECK(queue.stats(std::nullopt).max_bytes == SIZE_MAX / 2);
}
