#include <weir/channel/channel_core.hpp>

#include "support/catch.hpp"

#include <weir/executor/run_loop.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/executor/wait_site.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

using namespace std::chrono_literals;

namespace {

// The core without items: a line of those who put and one of those who get.
template <class Policy = weir::measured>
class lines final : public weir::detail::channel_core<Policy> {
    using core = weir::detail::channel_core<Policy>;
    using whole_lock = typename core::whole_lock;

  public:
    const char* contradiction() const noexcept override { return nullptr; }

    using side = typename core::side;
    // One without an item.
    struct waiter : core::waiter {
        explicit waiter(weir::detail::slot* who = nullptr) noexcept : core::waiter(nullptr, who) {}
    };

    explicit lines(weir::executor* clock, std::size_t capacity = 1, std::string name = "lines")
        : core(capacity, clock, std::move(name)) {}

    // As an operation is done: the first in line is served, and woken after the locks. An item for
    // a get has been put.
    void serve(side line) {
        typename core::waiter* served = nullptr;
        {
            const whole_lock held(*this);
            served = line == side::put ? core::putters_.front() : core::getters_.front();
            core::remove_waiter(*served, line, weir::detail::outcome::done, core::reading(nullptr));
            core::put_end_.count.fetch_add(1);
            if (line == side::get) core::get_end_.count.fetch_add(1);
        }
        core::wake(*served);
    }
    void wait(waiter& w, side line, weir::executor& home, std::coroutine_handle<> h = std::noop_coroutine(),
              weir::detail::slot* works_for = nullptr) {
        w.set_coroutine(h, &home, works_for);
        const whole_lock held(*this);
        core::wait_in_line(w, line, home);
    }
    weir::executor* wait(waiter& w, side line, weir::detail::parker& thread) {
        w.set_thread(&thread);
        const whole_lock held(*this);
        return core::wait_in_line(w, line);
    }
    void is_empty(bool empty) {
        const whole_lock held(*this);
        core::emptiness_changed(empty, nullptr);
    }
    void close() {
        const whole_lock held(*this);
        core::closed_ = true;
    }
    // Items, which nobody waits for.
    void puts(std::uint64_t n) {
        const whole_lock held(*this);
        core::put_end_.count.fetch_add(n);
    }
    weir::channel_stats stats() {
        weir::channel_stats s;
        const whole_lock held(*this);
        core::fill(s, core::reading(nullptr));
        return s;
    }
};

using side = lines<>::side;
using weir::detail::outcome;

// Counts how often it tells the time.
class counting final : public weir::executor {
  public:
    explicit counting(const weir::executor_traits& traits = {}) : executor(traits) {}
    void post(std::coroutine_handle<> h) noexcept override { posted.push_back(h); }
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
    weir::time_point now() const noexcept override {
        ++reads;
        return time;
    }
    std::vector<std::coroutine_handle<>> posted;
    weir::time_point time{};
    mutable int reads = 0;
};

// Something to wake.
struct coroutine {
    struct promise_type {
        coroutine get_return_object() noexcept {
            return coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    explicit coroutine(std::coroutine_handle<> h) noexcept : handle(h) {}
    coroutine(const coroutine&) = delete;
    coroutine& operator=(const coroutine&) = delete;
    ~coroutine() { handle.destroy(); }
    std::coroutine_handle<> handle;
};
coroutine something() { co_return; }

template <class Lines>
std::string report_of(const Lines& l) {
    return weir::detail::waiters_at(l);
}

}  // namespace

TEST_CASE("a channel of capacity 0, or less, is refused, with the reason") {
    const auto refusal = [](std::size_t capacity) -> std::string {
        try {
            const lines<> none(nullptr, capacity);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "taken";
    };
    CHECK(refusal(0) == "weir: a channel of capacity 0 could never take an item; give it 1 or more");
    CHECK(refusal(static_cast<std::size_t>(-1)) ==
          "weir: a channel's capacity was negative, or too large; give it 1 or more");
}

TEST_CASE(
    "a waiting coroutine is posted once: by the operation that serves it or by its stop, whichever is "
    "first") {
    counting ex;
    lines<> l(&ex);
    const coroutine a = something(), b = something();
    for (const side line : {side::put, side::get}) {
        ex.posted.clear();
        lines<>::waiter first, second;
        l.wait(first, line, ex, a.handle);
        l.wait(second, line, ex, b.handle);
        l.serve(line);
        CHECK(first.outcome == outcome::done);
        l.stop(first, line);  // too late
        CHECK(first.outcome == outcome::done);
        CHECK(second.outcome == outcome::pending);
        l.stop(second, line);
        CHECK(second.outcome == outcome::stopped);
        l.stop(second, line);
        CHECK(ex.posted == std::vector<std::coroutine_handle<>>{a.handle, b.handle});
    }
}

TEST_CASE("a stop that comes before the waiter is in line leaves its mark on the waiter") {
    counting ex;
    lines<> l(&ex);
    lines<>::waiter w;
    l.stop(w, side::get);
    CHECK(w.stop_seen);
    CHECK(w.outcome == outcome::pending);
    CHECK(ex.posted.empty());
}

TEST_CASE("forget tells whether the waiter was still in line") {
    counting ex;
    lines<> l(&ex);
    weir::detail::parker thread;
    lines<>::waiter w;
    CHECK_FALSE(l.forget(w, side::get));
    CHECK(l.wait(w, side::get, thread) == &ex);
    CHECK(l.forget(w, side::get));
    CHECK(w.outcome == outcome::timed_out);
    CHECK_FALSE(thread.is_set());
    CHECK(report_of(l).empty());

    lines<>::waiter other;
    l.wait(other, side::get, thread);
    l.serve(side::get);
    CHECK(thread.is_set());
    CHECK_FALSE(l.forget(other, side::get));
    CHECK(other.outcome == outcome::done);
}

TEST_CASE(
    "the channel's waiters are registered with the first lasting executor that has a waiting coroutine") {
    weir::detail::registry kept;
    counting ex({.waiters = &kept});
    weir::run_loop passing;
    weir::virtual_time time;
    lines<> l(nullptr);
    lines<>::waiter w[4];
    const auto places = [&kept] {
        int n = 0;
        kept.each<weir::detail::wait_site>([&n](const weir::detail::wait_site&) { ++n; });
        return n;
    };
    l.wait(w[0], side::get, passing);
    CHECK(places() == 0);
    l.wait(w[1], side::get, ex);
    CHECK(places() == 1);
    l.wait(w[2], side::put, ex);
    l.wait(w[3], side::get, time);
    CHECK(places() == 1);
    time.run();
    for (int i = 0; i < 4; ++i) l.forget(w[i], i == 2 ? side::put : side::get);
}

TEST_CASE("an executor at the address of an earlier run loop is registered all the same") {
    std::variant<std::monostate, weir::run_loop, weir::virtual_time> place;
    lines<> l(nullptr);
    lines<>::waiter first, second;
    l.wait(first, side::get, place.emplace<weir::run_loop>());
    l.forget(first, side::get);
    auto& time = place.emplace<weir::virtual_time>();
    l.wait(second, side::get, time);
    CHECK_THROWS_AS(time.run(), weir::deadlock_error);
    l.forget(second, side::get);
}

TEST_CASE("a report names all waiters in order: puts first, then gets") {
    counting ex;
    const std::string stage = "decode";
    weir::detail::slot slot(stage, 2, ex);
    slot.begin(0);
    lines<> l(&ex, 3, "frames");
    lines<>::waiter get, put, put_slot, get_thread;
    weir::detail::parker thread;
    l.wait(get, side::get, ex);
    l.wait(put, side::put, ex);
    l.wait(put_slot, side::put, ex, std::noop_coroutine(), &slot);
    l.wait(get_thread, side::get, thread);
    CHECK(report_of(l) ==
          "\n  channel 'frames' is empty, 0 of 3: a coroutine waits to put"
          "\n  channel 'frames' is empty, 0 of 3: stage 'decode', slot 2 waits to put"
          "\n  channel 'frames' is empty, 0 of 3: a coroutine waits to get"
          "\n  channel 'frames' is empty, 0 of 3: a thread waits to get");
    l.forget(get, side::get);
    l.forget(get_thread, side::get);
    l.forget(put, side::put);
    l.forget(put_slot, side::put);
    CHECK(report_of(l).empty());
    CHECK(report_of(lines<>(&ex, 3, "")).empty());
}

TEST_CASE("a slot that waits and its channel count the same instants") {
    weir::virtual_time time;
    const std::string stage = "stage";
    weir::detail::timed_slot<true> slot(stage, 0, time);
    lines<> l(&time);
    slot.begin(0);
    slot.resumed(0);
    time.run_until(weir::time_point(5ns));
    lines<>::waiter w(&slot);
    slot.last_reading = 3;  // the end of its invocation; the clock has gone on a little
    l.wait(w, side::put, time);
    time.run_until(weir::time_point(20ns));
    l.serve(side::put);
    time.run_until(weir::time_point(24ns));
    slot.resumed(24);
    const weir::channel_stats s = l.stats();
    CHECK(s.elapsed == 24ns);
    CHECK(s.put_wait == 17ns);
    CHECK(s.put_waits.max() == 17ns);
    slot.lock();
    const auto& spent = slot.spent_until(24);
    CHECK(spent[static_cast<std::size_t>(weir::detail::slot_state::run)] == 3);
    CHECK(spent[static_cast<std::size_t>(weir::detail::slot_state::wait_put)] == 17);
    CHECK(spent[static_cast<std::size_t>(weir::detail::slot_state::runnable)] == 4);
    slot.unlock();
}

TEST_CASE("without a clock nothing is measured until the first coroutine brings one") {
    counting ex;
    lines<> l(nullptr);
    weir::detail::parker thread;
    lines<>::waiter early, w;
    CHECK(l.wait(early, side::get, thread) == nullptr);
    l.is_empty(false);
    l.is_empty(true);
    CHECK(l.stats().elapsed == 0ns);
    ex.time += 100ns;
    l.wait(w, side::get, ex);  // measures from here on, the thread's wait too
    ex.time += 10ns;
    l.serve(side::get);
    ex.time += 5ns;
    const weir::channel_stats s = l.stats();
    CHECK(s.elapsed == 15ns);
    CHECK(s.empty == 15ns);
    CHECK(s.get_wait == 2 * 10ns + 5ns);
    CHECK(s.get_blocked == 15ns);
    CHECK(s.get_waits.max() == 10ns);
    l.forget(w, side::get);
}

TEST_CASE("a channel that doesn't measure reads no clock") {
    counting ex;
    lines<weir::unmeasured> l(&ex);
    lines<weir::unmeasured>::waiter w;
    using line = lines<weir::unmeasured>::side;
    l.wait(w, line::get, ex);
    l.serve(line::get);
    l.wait(w, line::put, ex);
    l.forget(w, line::put);
    l.is_empty(false);
    CHECK(l.stats().num_get == 1);
    CHECK(l.stats().elapsed == 0ns);
    CHECK(l.stats().get_waits.empty());
    CHECK(ex.reads == 0);
}

namespace {

// Its light fence is passed by who has a lock reserved, and by nobody else.
struct fenced : weir::detail::standard_platform {
    static inline int fences = 0;
    static bool has_heavy_fence() noexcept { return true; }
    static void light_fence() noexcept { ++fences; }
    static void heavy_fence() noexcept {}
};
struct with_fences : weir::unmeasured {
    using platform = fenced;
};

}  // namespace

TEST_CASE("a channel reserves its locks for the constructing thread if its clock runs on one thread only") {
    const auto fences = [](weir::executor* clock, std::size_t capacity = 3) {
        lines<with_fences> l(clock, capacity);
        const int before = fenced::fences;
        l.close();
        return fenced::fences - before;
    };
    counting ex;
    weir::virtual_time time;
    CHECK(fences(&time) == 2);
    CHECK(fences(&time, 2) == 1);
    CHECK(fences(&ex) == 0);
    CHECK(fences(nullptr) == 0);
}

TEST_CASE("an operation needs both locks if an operation waits at the other end, or the channel is closed") {
    counting ex;
    lines<weir::unmeasured> l(&ex, 3);
    using line = lines<weir::unmeasured>::side;
    lines<weir::unmeasured>::waiter w;
    const auto takes_whole = [&l] { return std::pair(l.put_needs_both(), l.get_needs_both()); };
    CHECK(takes_whole() == std::pair(false, false));
    l.wait(w, line::get, ex);
    CHECK(takes_whole() == std::pair(true, false));
    l.stop(w, line::get);
    CHECK(takes_whole() == std::pair(false, false));
    l.wait(w, line::put, ex);
    CHECK(takes_whole() == std::pair(false, true));
    l.serve(line::put);
    CHECK(takes_whole() == std::pair(false, false));
    l.wait(w, line::put, ex);
    l.forget(w, line::put);
    CHECK(takes_whole() == std::pair(false, false));
    l.close();
    CHECK(takes_whole() == std::pair(true, false));
}

TEST_CASE("the ends of a channel of capacity 1 or 2 have one lock") {
    counting ex;
    for (const std::size_t capacity : {1U, 2U, 3U}) {
        const lines<weir::unmeasured> l(&ex, capacity);
        CHECK(l.has_one_lock() == (capacity < 3));
        CHECK_FALSE(l.put_needs_both());
        CHECK_FALSE(l.get_needs_both());
    }
}

TEST_CASE("if emptiness is measured, a put into an empty channel needs both locks") {
    counting ex;
    lines<> l(&ex, 3);
    CHECK(l.put_needs_both());
    l.puts(1);
    CHECK_FALSE(l.put_needs_both());
    CHECK_FALSE(l.get_needs_both());
    lines<>::waiter w;
    l.wait(w, side::put, ex);
    CHECK_FALSE(l.put_needs_both());
    CHECK(l.get_needs_both());
    l.forget(w, side::put);
    CHECK_FALSE(l.get_needs_both());
}

TEST_CASE("a line may be joined and left by one thread while others look at the channel") {
    counting ex;
    lines<> l(&ex);
    std::atomic<bool> done{false};
    std::thread looker([&] {
        while (!done) {
            static_cast<void>(report_of(l));
            static_cast<void>(l.stats());
        }
    });
    for (int i = 0; i < 2'000; ++i) {
        lines<>::waiter put, get;
        l.wait(put, side::put, ex);
        l.wait(get, side::get, ex);
        l.forget(put, side::put);
        l.forget(get, side::get);
    }
    done = true;
    looker.join();
    CHECK(report_of(l).empty());
}
