#include <weir/channel/channel_items.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

using weir::channel;
using weir::channel_status;
using weir::detail::get_operation;
using weir::detail::put_operation;
using weir::detail::standard_platform;
using record = weir::detail::basic_thread_record<standard_platform>;

namespace {

template <class Policy>
using of_numbers = channel<std::unique_ptr<int>, Policy>;

// Whether it needed no more than the lock of one end.
template <class Channel>
bool puts_at_once(Channel& c, int number) {
    auto item = std::make_unique<int>(number);
    put_operation<Channel> put(c, item);
    const bool moved = put.await_ready();
    CHECK((item == nullptr) == moved);
    if (moved) CHECK(put.await_resume());
    return moved;
}
template <class Channel>
bool gets_at_once(Channel& c, int number) {
    get_operation<Channel> get(c);
    if (!get.await_ready()) return false;
    const auto got = get.await_resume();
    CHECK(got.has_value());
    CHECK(**got == number);
    return true;
}

}  // namespace

TEST_CASE("an item moves at once if there is room, whether the ends share a lock or not") {
    for (const std::size_t capacity : {1U, 2U, 3U, 8U}) {  // fewer items than use up a slice
        of_numbers<weir::unmeasured> c(capacity);
        for (int round = 0; round < 5; ++round) {
            for (std::size_t i = 0; i < capacity; ++i) CHECK(puts_at_once(c, static_cast<int>(i)));
            CHECK_FALSE(puts_at_once(c, 0));
            CHECK(c.size() == capacity);
            for (std::size_t i = 0; i < capacity; ++i) CHECK(gets_at_once(c, static_cast<int>(i)));
            CHECK_FALSE(gets_at_once(c, 0));
        }
        c.close();
        CHECK_FALSE(puts_at_once(c, 0));
    }
}

TEST_CASE("if emptiness is measured, the first and the last item take both locks") {
    of_numbers<weir::measured> apart(3);
    CHECK_FALSE(puts_at_once(apart, 1));
    CHECK(apart.try_put(std::make_unique<int>(1)) == channel_status::success);
    CHECK(puts_at_once(apart, 2));
    CHECK(gets_at_once(apart, 1));
    CHECK_FALSE(gets_at_once(apart, 2));
    CHECK(apart.try_get().has_value());
    CHECK_FALSE(puts_at_once(apart, 3));

    for (const std::size_t capacity : {1U, 2U}) {  // the ends have one lock
        of_numbers<weir::measured> c(capacity);
        for (int i = 0; i < 3; ++i) {
            CHECK(puts_at_once(c, i));
            CHECK(gets_at_once(c, i));
            CHECK_FALSE(gets_at_once(c, i));
        }
    }
}

TEST_CASE("the time that a channel is empty is measured with one lock and with two, also when that changes") {
    weir::virtual_time vt;
    for (const std::size_t capacity : {2U, 3U}) {
        of_numbers<weir::measured> c(capacity, vt);
        const std::size_t other = 5 - capacity;
        constexpr int rounds = 6;
        weir::sync_wait(vt, [](of_numbers<weir::measured>& of, std::size_t a, std::size_t b) -> weir::task<> {
            for (int i = 0; i < rounds; ++i) {
                co_await weir::sleep_for(std::chrono::nanoseconds(1));
                co_await of.put(std::make_unique<int>(i));
                co_await weir::sleep_for(std::chrono::nanoseconds(2));
                if (i >= 2) of.set_capacity(i % 2 == 0 ? b : a);  // with an item inside
                co_await of.put(std::make_unique<int>(i));
                co_await weir::sleep_for(std::chrono::nanoseconds(3));
                (void)co_await of.get();
                co_await weir::sleep_for(std::chrono::nanoseconds(4));
                (void)co_await of.get();
                if (i >= 4) of.set_capacity(i % 2 == 0 ? a : b);  // with none
            }
        }(c, capacity, other));
        CHECK(c.stats().empty == std::chrono::nanoseconds(rounds));
    }
}

TEST_CASE("a limit in bytes is checked under both locks") {
    for (const std::size_t capacity : {2U, 3U}) {
        of_numbers<weir::unmeasured> c(capacity);
        CHECK(puts_at_once(c, 1));
        c.set_max_bytes(1'000);
        CHECK_FALSE(puts_at_once(c, 2));
        CHECK_FALSE(gets_at_once(c, 1));
        c.set_max_bytes(0);
        CHECK(puts_at_once(c, 2));
        CHECK(gets_at_once(c, 1));
    }
}

TEST_CASE("a change of capacity between one lock and two keeps the items") {
    of_numbers<weir::unmeasured> c(2);
    int put = 0;
    int got = 0;
    for (const std::size_t capacity : {2U, 5U, 1U, 3U, 2U}) {
        c.set_capacity(capacity);
        while (c.size() < capacity) CHECK(puts_at_once(c, put++));
        CHECK_FALSE(puts_at_once(c, put));
        while (c.size() > 1) CHECK(gets_at_once(c, got++));
    }
    CHECK(gets_at_once(c, got));
}

TEST_CASE("an operation counts for its thread if it moved an item") {
    of_numbers<weir::unmeasured> c(1);
    record* const me = record::acquire();
    REQUIRE(me != nullptr);
    const std::uint64_t before = me->operations();
    CHECK(puts_at_once(c, 1));
    CHECK_FALSE(puts_at_once(c, 2));
    CHECK(gets_at_once(c, 1));
    CHECK(me->operations() == before + 2);
}

TEST_CASE("a batch counts as one operation of its thread, if an item moved") {
    of_numbers<weir::unmeasured> c(3);
    auto& inside = weir::detail::base_of(c);
    std::unique_ptr<int> items[3];
    record* const me = record::acquire();
    REQUIRE(me != nullptr);
    const std::uint64_t before = me->operations();
    CHECK(inside.put_some(items, 3) == 3);
    CHECK(me->operations() == before + 1);
    CHECK(inside.put_some(items, 1) == 0);
    CHECK(me->operations() == before + 1);
    CHECK(inside.get_some(items, 2) == 2);
    CHECK(me->operations() == before + 2);
    std::size_t put = 0, got = 0;
    bool was_known = true;
    std::thread([&] {
        was_known = record::mine() != nullptr;
        put = inside.put_some(items, 1);
        got = inside.get_some(items, 2);
    }).join();
    CHECK_FALSE(was_known);
    CHECK(put == 1);
    CHECK(got == 2);
    CHECK(me->operations() == before + 2);
}

// A thread that reserved the locks is asked for them by another one, and the other way round, while the ends
// go over from one lock to two and back.
TEST_CASE("threads that put and get meet a third one that changes the capacity") {
    of_numbers<weir::unmeasured> c(2);
    constexpr int items = 20'000;
    std::thread puts([&c] {
        for (int i = 0; i < items;) {
            auto item = std::make_unique<int>(i);
            put_operation<of_numbers<weir::unmeasured>> put(c, item);
            if (put.await_ready() || c.try_put(std::move(item)) == channel_status::success) ++i;
        }
    });
    bool ordered = true;
    std::thread gets([&c, &ordered] {
        for (int i = 0; i < items;) {
            if (auto r = c.try_get(); r.has_value()) ordered = ordered && **r == i++;
        }
    });
    for (int i = 0; i < 200; ++i) c.set_capacity(i % 2 == 0 ? 5 : 2);
    puts.join();
    gets.join();
    CHECK(ordered);
    CHECK(c.size() == 0);
}

namespace {

// An item that owns a channel of such items.
struct nest {
    std::unique_ptr<channel<nest>> inside;
    int* destroyed = nullptr;

    nest(std::unique_ptr<channel<nest>> c, int& count) : inside(std::move(c)), destroyed(&count) {}
    nest(nest&& other) noexcept = default;
    nest& operator=(nest&&) = delete;
    ~nest() {
        if (inside != nullptr) ++*destroyed;
    }
};

std::unique_ptr<channel<nest>> nests(int n, int& destroyed) {
    auto outer = std::make_unique<channel<nest>>(1);
    for (int i = 0; i < n; ++i) {
        nest item(std::move(outer), destroyed);
        outer = std::make_unique<channel<nest>>(1);
        static_cast<void>(outer->try_put(std::move(item)));
    }
    return outer;
}

}  // namespace

TEST_CASE("channels whose items own channels are destroyed on a bounded stack, each item once") {
    int destroyed = 0;
    auto outer = nests(50'000, destroyed);
    outer.reset();
    CHECK(destroyed == 50'000);
    outer = nests(50'000, destroyed);
    outer->cancel();
    CHECK(destroyed == 100'000);
}
