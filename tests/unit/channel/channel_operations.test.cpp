#include <weir/channel/channel_operations.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"
#include "support/vanishing.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::channel;
using weir::channel_status;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using weir::when_all;
using box = std::unique_ptr<int>;

namespace {

const weir::time_point t0{};

void run(actor& a, virtual_time& time) {
    a.start(time);
    time.run_until(time.now());
}

actor put_box(channel<box>& c, box& item, weir::stop_token stop, std::optional<bool>& result) {
    result = co_await c.put(std::move(item), std::move(stop));
}

actor get_box(channel<box>& c, weir::stop_token stop, std::optional<box>& result, bool& answered) {
    result = co_await c.get(std::move(stop));
    answered = true;
}

actor put_number(channel<int>& c, int n, int& result) {
    const bool in = co_await c.put(n + 0);
    result = in ? 1 : 0;
}

actor get_number(channel<int>& c, int& result) {
    const std::optional<int> n = co_await c.get();
    result = n.value_or(-1);
}

// An aggregate, which counts what lives by the memory that it owns.
struct parcel {
    std::shared_ptr<int> alive;
    std::size_t weight = 1;
    std::string label{};
};

struct sealed_parcel {
    sealed_parcel(std::shared_ptr<int> a, std::size_t w) : inside{std::move(a), w} {
        if (w == 0) throw std::invalid_argument("weightless");
    }
    parcel inside;
};

actor emplace_parcel(channel<parcel>& c, std::shared_ptr<int> alive, std::string label,
                     std::optional<bool>& result) {
    result = co_await c.emplace(std::move(alive), 3u, std::move(label));
}

struct foreign {
    struct promise_type {
        foreign get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

}  // namespace

TEST_CASE("a put that is refused leaves the item with the caller") {
    virtual_time time;
    channel<box> c(1, time);
    weir::stop_source source;
    box item = std::make_unique<int>(1);
    std::optional<bool> result;
    SECTION("since the channel is closed") {
        c.close();
        actor a = put_box(c, item, {}, result);
        run(a, time);
    }
    SECTION("since the channel is closed while it waits") {
        CHECK(c.try_put(std::make_unique<int>(0)) == channel_status::success);
        actor a = put_box(c, item, {}, result);
        run(a, time);
        CHECK_FALSE(result.has_value());
        c.close();
        time.run();
    }
    SECTION("since it was asked to stop before, and there is no room") {
        CHECK(c.try_put(std::make_unique<int>(0)) == channel_status::success);
        source.request_stop();
        actor a = put_box(c, item, source.get_token(), result);
        run(a, time);
    }
    SECTION("since it is asked to stop while it waits") {
        CHECK(c.try_put(std::make_unique<int>(0)) == channel_status::success);
        actor a = put_box(c, item, source.get_token(), result);
        run(a, time);
        CHECK_FALSE(result.has_value());
        source.request_stop();
        time.run();
    }
    REQUIRE(result.has_value());
    CHECK_FALSE(*result);
    REQUIRE(item);
    CHECK(*item == 1);
}

TEST_CASE("a put that was done has taken the item, even if a stop is requested afterwards") {
    virtual_time time;
    channel<box> c(1, time);
    weir::stop_source source;
    box item = std::make_unique<int>(1);
    std::optional<bool> result;
    SECTION("it was stopped before, but there is room") {
        source.request_stop();
        actor a = put_box(c, item, source.get_token(), result);
        run(a, time);
    }
    SECTION("it is stopped after room was made for it, and before it runs") {
        CHECK(c.try_put(std::make_unique<int>(0)) == channel_status::success);
        actor a = put_box(c, item, source.get_token(), result);
        run(a, time);
        CHECK(**c.try_get() == 0);
        source.request_stop();
        CHECK_FALSE(result.has_value());
        time.run();
    }
    SECTION("it is closed after room was made for it, and before it runs") {
        CHECK(c.try_put(std::make_unique<int>(0)) == channel_status::success);
        actor a = put_box(c, item, source.get_token(), result);
        run(a, time);
        CHECK(**c.try_get() == 0);
        c.close();
        time.run();
    }
    REQUIRE(result.has_value());
    CHECK(*result);
    CHECK_FALSE(item);
    CHECK(**c.try_get() == 1);
}

TEST_CASE("a get that was served delivers its item, even if a stop is requested afterwards") {
    virtual_time time;
    channel<box> c(1, time);
    weir::stop_source source;
    std::optional<box> result;
    bool answered = false;
    SECTION("it was stopped before, but an item is there") {
        CHECK(c.try_put(std::make_unique<int>(1)) == channel_status::success);
        source.request_stop();
        actor a = get_box(c, source.get_token(), result, answered);
        run(a, time);
    }
    SECTION("it is stopped after the item was handed over, and before it runs") {
        actor a = get_box(c, source.get_token(), result, answered);
        run(a, time);
        CHECK(c.try_put(std::make_unique<int>(1)) == channel_status::success);
        source.request_stop();
        CHECK_FALSE(answered);
        time.run();
    }
    SECTION("it is closed after the item was handed over, and before it runs") {
        actor a = get_box(c, source.get_token(), result, answered);
        run(a, time);
        CHECK(c.try_put(std::make_unique<int>(1)) == channel_status::success);
        c.cancel();
        time.run();
    }
    CHECK(answered);
    REQUIRE(result.has_value());
    CHECK(**result == 1);
    CHECK(c.size() == 0);
}

TEST_CASE("a get that is stopped gets nothing, and takes nothing from others") {
    virtual_time time;
    channel<box> c(1, time);
    weir::stop_source source;
    std::optional<box> stopped, waiting;
    bool answered = false, other = false;
    SECTION("before it waits") {
        source.request_stop();
        actor a = get_box(c, source.get_token(), stopped, answered);
        run(a, time);
        CHECK(answered);
    }
    SECTION("while it waits, the first in line") {
        actor a = get_box(c, source.get_token(), stopped, answered);
        actor b = get_box(c, {}, waiting, other);
        run(a, time);
        run(b, time);
        source.request_stop();
        time.run_until(time.now());
        CHECK(answered);
        CHECK_FALSE(other);
        CHECK(c.try_put(std::make_unique<int>(1)) == channel_status::success);
        time.run();
        CHECK(other);
        CHECK(**waiting == 1);
    }
    CHECK_FALSE(stopped.has_value());
    CHECK_FALSE(c.closed());
}

TEST_CASE("an operation that was stopped before never waits, however many there were before it") {
    struct body {
        // More than the 128 of which one goes to the end of the queue.
        static task<int> get_many(channel<int>& empty, weir::stop_token stop) {
            int refused = 0;
            for (int i = 0; i < 300; ++i) {
                const std::optional<int> n = co_await empty.get(stop);
                if (!n) ++refused;
            }
            co_return refused;
        }
        static task<int> put_many(channel<int>& full, weir::stop_token stop) {
            int refused = 0;
            for (int i = 0; i < 300; ++i) {
                const bool in = co_await full.put(i + 0, stop);
                if (!in) ++refused;
            }
            co_return refused;
        }
    };
    virtual_time time;
    weir::stop_source source;
    source.request_stop();
    channel<int> c(1, time);
    CHECK(sync_wait(time, body::get_many(c, source.get_token())) == 300);
    CHECK(c.try_put(1) == channel_status::success);
    CHECK(sync_wait(time, body::put_many(c, source.get_token())) == 300);
    CHECK(c.size() == 1);
    CHECK(c.stats().num_put == 1);
}

TEST_CASE("one stop reaches every operation that has its token, and no other") {
    virtual_time time(7);
    channel<int> c(1, time);
    struct body {
        static task<bool> get(channel<int>& from, weir::stop_token stop) {
            const std::optional<int> n = co_await from.get(std::move(stop));
            co_return n.has_value();
        }
        static task<bool> stop_and_feed(channel<int>& to, weir::stop_source& s) {
            co_await weir::sleep_for(1s);
            s.request_stop();
            for (int i = 0; i < 5; ++i) co_await to.put(i + 0);
            co_return true;
        }
    };
    weir::stop_source source;
    std::vector<task<bool>> tasks;
    for (int i = 0; i < 10; ++i) {
        tasks.push_back(body::get(c, i % 2 == 0 ? source.get_token() : weir::stop_token()));
    }
    tasks.push_back(body::stop_and_feed(c, source));
    const std::vector<bool> got = sync_wait(time, when_all(std::move(tasks)));
    for (std::size_t i = 0; i < 10; ++i) CHECK(got[i] == (i % 2 == 1));
    CHECK(time.now() == t0 + 1s);
}

TEST_CASE("put copies lvalues and constants") {
    virtual_time time;
    channel<std::string> c(2, time);
    struct body {
        static task<> put(channel<std::string>& to, std::string& named) {
            const std::string constant = "constant";
            co_await to.put(named);
            co_await to.put(constant);
            const bool in = co_await to.put(named);  // waits; the copy lives in the operation
            if (!in) throw std::logic_error("refused");
            co_await to.put("converted");
        }
        static task<std::string> get(channel<std::string>& from) {
            std::string all;
            co_await weir::sleep_for(1s);
            for (int i = 0; i < 4; ++i) {
                const std::optional<std::string> s = co_await from.get();
                all += *s + ' ';
            }
            co_return all;
        }
    };
    std::string named = "named";
    CHECK(std::get<1>(sync_wait(time, when_all(body::put(c, named), body::get(c)))) ==
          "named constant named converted ");
    CHECK(named == "named");
}

TEST_CASE("emplace makes an aggregate in the channel, and each is destroyed once") {
    virtual_time time;
    channel<parcel> c(1, time);
    const auto alive = std::make_shared<int>(7);
    std::optional<bool> first, second;
    actor a = emplace_parcel(c, alive, "a label that is too long to be kept inside", first);
    run(a, time);
    CHECK(first == true);
    actor b = emplace_parcel(c, alive, "b", second);
    run(b, time);
    CHECK_FALSE(second.has_value());  // it waits, with its item
    CHECK(alive.use_count() == 3);
    SECTION("where there is room in the end") {
        {
            const weir::get_result<parcel> got = c.try_get();
            REQUIRE(got);
            CHECK(got->label == "a label that is too long to be kept inside");
            CHECK(got->weight == 3);
        }
        time.run();
        CHECK(second == true);
        CHECK(alive.use_count() == 2);
        CHECK(c.try_get()->label == "b");
    }
    SECTION("where it is refused") {
        c.close();
        time.run();
        CHECK(second == false);
        CHECK(alive.use_count() == 2);
    }
    SECTION("where its coroutine is destroyed while it waits") { b.destroy(); }
    c.cancel();
    CHECK(alive.use_count() == 1);
    CHECK(*alive == 7);
}

TEST_CASE("emplace constructs by a constructor, as an aggregate, as an array, and from no arguments") {
    virtual_time time;
    struct body {
        static task<> all(channel<parcel>& parcels, channel<sealed_parcel>& sealed, channel<box>& boxes,
                          channel<std::array<std::string, 2>>& pairs, const std::shared_ptr<int>& alive) {
            co_await parcels.emplace();
            co_await parcels.emplace(alive);
            const parcel named{alive, 5, "named"};
            co_await parcels.emplace(named);
            co_await sealed.emplace(alive, 2u);
            co_await boxes.emplace(new int(3));
            co_await pairs.emplace("one", std::string("two"));
        }
        static task<> weightless(channel<sealed_parcel>& to) { co_await to.emplace(nullptr, 0u); }
    };
    const auto alive = std::make_shared<int>(7);
    {
        channel<parcel> parcels(4, time);
        channel<sealed_parcel> sealed(4, time);
        channel<box> boxes(4, time);
        channel<std::array<std::string, 2>> pairs(4, time);
        sync_wait(time, body::all(parcels, sealed, boxes, pairs, alive));
        CHECK(alive.use_count() == 4);
        CHECK(parcels.try_get()->alive == nullptr);
        CHECK(parcels.try_get()->weight == 1);
        CHECK(parcels.try_get()->label == "named");
        CHECK(alive.use_count() == 2);
        CHECK(sealed.try_get()->inside.weight == 2);
        CHECK(**boxes.try_get() == 3);
        CHECK((*pairs.try_get())[1] == "two");
        CHECK_THROWS_AS(sync_wait(time, body::weightless(sealed)), std::invalid_argument);
        CHECK(sealed.size() == 0);
        CHECK(sealed.stats().num_put == 1);
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE("a get knows the number of its item in the order of the gets") {
    virtual_time time;
    channel<int> c(3, time);
    struct body {
        static task<std::uint64_t> number(channel<int>& from) {
            auto get = from.get();
            const std::optional<int> n = co_await get;
            if (!n) throw std::logic_error("nothing came");
            co_return get.number();
        }
        static task<> feed(channel<int>& to) {
            for (int i = 0; i < 2; ++i) co_await to.put(i + 0);
        }
    };
    CHECK(c.try_put(7) == channel_status::success);
    CHECK(*c.try_get() == 7);
    const auto numbers =
        sync_wait(time, when_all(body::number(c), body::number(c), body::feed(c)));  // handed over, in line
    CHECK(std::get<0>(numbers) == 1);
    CHECK(std::get<1>(numbers) == 2);
    CHECK(c.try_put(8) == channel_status::success);
    CHECK(sync_wait(time, body::number(c)) == 3);
}

TEST_CASE("a waiting coroutine that is destroyed leaves the line, and the others go on") {
    virtual_time time;
    channel<int> c(1, time);
    int result[3] = {-2, -2, -2};
    for (int goes = 0; goes < 3; ++goes) {
        CAPTURE(goes);
        std::vector<actor> actors;
        for (int& r : result) {
            r = -2;
            actors.push_back(get_number(c, r));
            run(actors.back(), time);
        }
        actors.erase(actors.begin() + goes);
        CHECK(c.try_put(10) == channel_status::success);
        CHECK(c.try_put(20) == channel_status::success);
        CHECK(c.size() == 0);
        time.run();
        for (int i = 0, expected = 10; i < 3; ++i) {
            CHECK(result[i] == (i == goes ? -2 : expected));
            if (i != goes) expected += 10;
        }
    }
    CHECK(c.try_put(0) == channel_status::success);
    for (int goes = 0; goes < 3; ++goes) {
        CAPTURE(goes);
        std::vector<actor> actors;
        for (int i = 0; i < 3; ++i) {
            result[i] = -2;
            actors.push_back(put_number(c, i, result[i]));
            run(actors.back(), time);
        }
        actors.erase(actors.begin() + goes);
        std::vector<int> got;
        for (int i = 0; i < 2; ++i) got.push_back(*c.try_get());
        time.run();
        CHECK(got.back() == (goes == 0 ? 1 : 0));
        for (int i = 0; i < 3; ++i) CHECK(result[i] == (i == goes ? -2 : 1));
        CHECK(c.size() == 1);
    }
}

TEST_CASE("a stop does not reach a waiting coroutine that was destroyed") {
    virtual_time time;
    channel<box> c(1, time);
    weir::stop_source source;
    std::optional<box> result;
    bool answered = false;
    {
        actor a = get_box(c, source.get_token(), result, answered);
        run(a, time);
    }
    source.request_stop();
    time.run();
    CHECK_FALSE(answered);
    CHECK(c.try_put(std::make_unique<int>(1)) == channel_status::success);
    CHECK(c.size() == 1);
}

TEST_CASE("an item that was handed to a coroutine that never resumes is destroyed with the frame") {
    weir::run_loop loop;
    channel<std::shared_ptr<int>> c(1);
    const auto get = [](channel<std::shared_ptr<int>>& from) -> actor {
        const std::optional<std::shared_ptr<int>> got = co_await from.get();
        static_cast<void>(got);
    };
    const auto item = std::make_shared<int>(1);
    {
        actor waits = get(c);
        waits.start(loop);
        weir::detail::parker never;
        loop.drive(never, t0);
        CHECK(c.try_put(std::shared_ptr<int>(item)) == channel_status::success);
        CHECK(item.use_count() == 2);
    }
    CHECK(item.use_count() == 1);
}

TEST_CASE("a coroutine of another library resumes on the executor that it runs on") {
    struct body {
        static foreign run_on(weir::executor& ex, channel<int>& c, int& got) {
            co_await weir::schedule(ex);
            const std::optional<int> n = co_await c.get();
            got = n.value_or(-1);
        }
    };
    channel<int> c(1);
    virtual_time time;
    int got = 0;
    body::run_on(time, c, got);
    time.run_until(t0 + 1s);
    CHECK(c.try_put(5) == channel_status::success);
    time.run();
    CHECK(got == 5);
}

TEST_CASE("a coroutine whose operations never wait lets others have a turn once in 128 of them") {
    struct body {
        static task<> hog(channel<int>& c, int& operations, bool& done) {
            for (int i = 0; i < 5'000; ++i) {
                const bool in = co_await c.put(i + 0);
                ++operations;
                const std::optional<int> n = co_await c.get();
                ++operations;
                if (!in || n != i) throw std::logic_error("an item was lost");
            }
            done = true;
        }
        static task<int> watch(const int& operations, const bool& done) {
            int most = 0;
            while (!done) {
                const int before = operations;
                co_await weir::yield();
                most = std::max(most, operations - before);
            }
            co_return most;
        }
        static foreign hog_without_executor(channel<int>& c, int& operations) {
            bool done = false;
            task<> t = hog(c, operations, done);
            co_await std::move(t);
        }
    };
    virtual_time time;
    channel<int> c(1, time);
    int operations = 0;
    bool done = false;
    const auto most =
        sync_wait(time, when_all(body::hog(c, operations, done), body::watch(operations, done)));
    CHECK(std::get<1>(most) <= 129);  // 128 of one end, and one of the other
    CHECK(operations == 10'000);
    const weir::channel_stats s = c.stats();
    CHECK(s.num_put == 5'000);
    CHECK(s.num_get == 5'000);
    CHECK(s.put_wait + s.get_wait == 0s);
    CHECK(s.put_waits.max() + s.get_waits.max() == 0s);
    // Where there is nobody to make room for, it simply goes on.
    operations = 0;
    body::hog_without_executor(c, operations);
    CHECK(operations == 10'000);
}

TEST_CASE("a waiter is resumed on its own executor, by a post") {
    struct body {
        static task<bool> get(channel<int>& c, weir::executor& here) {
            bool right = true;
            while (const auto n = co_await c.get()) {
                right = right && weir::detail::current_executor() == &here;
            }
            co_return right;
        }
        static task<> put(channel<int>& c, weir::executor& there) {
            co_await weir::schedule(there);
            for (int i = 0; i < 500; ++i) co_await c.put(i + 0);
            c.close();
        }
    };
    weir::thread_pool here(1), there(1);
    channel<int> c(1);
    CHECK(std::get<0>(sync_wait(here, when_all(body::get(c, here), body::put(c, there)))));
}

namespace {

// An item that knows whether it was moved from, and how many of it are alive.
class token {
  public:
    static inline int alive = 0;
    explicit token(int id) noexcept : id_(id) { ++alive; }
    token(token&& other) noexcept : id_(std::exchange(other.id_, 0)) {
        if (id_ != 0) return;
        ++moved_from_twice;
    }
    token& operator=(token&&) = delete;
    ~token() {
        if (id_ != 0) --alive;
    }
    static inline int moved_from_twice = 0;
    int id() const noexcept { return id_; }

  private:
    int id_;
};

enum class event { stop_all, stop_some, close, cancel };

struct books {
    explicit books(virtual_time& time) : c(2, time) {}
    channel<token> c;
    weir::stop_source all, some;
    std::vector<int> in, returned, received;
    int kept_wrongly = 0;
};

weir::stop_token token_for(books& b, event what, int who) {
    if (what == event::stop_some) return who == 0 ? b.some.get_token() : weir::stop_token();
    return b.all.get_token();
}

task<> produce(books& b, weir::stop_token stop, int first, int count) {
    for (int id = first; id < first + count; ++id) {
        token t(id);
        const bool in = co_await b.c.put(std::move(t), stop);
        if (in != (t.id() == 0)) ++b.kept_wrongly;
        (in ? b.in : b.returned).push_back(id);
        if (!in) break;
    }
}

task<> consume(books& b, weir::stop_token stop) {
    while (const auto t = co_await b.c.get(stop)) b.received.push_back(t->id());
}

task<> interfere(books& b, event what, int step) {
    for (int i = 0; i < step; ++i) co_await weir::yield();
    switch (what) {
        case event::stop_all:
            b.all.request_stop();
            break;
        case event::stop_some:
            b.some.request_stop();
            break;
        case event::close:
            b.c.close();
            break;
        case event::cancel:
            b.c.cancel();
            break;
    }
}

task<> close_after_all(books& b, std::vector<task<>> producers) {
    co_await when_all(std::move(producers));
    b.c.close();
}

task<> scenario(books& b, event what, int step) {
    std::vector<task<>> producers;
    for (int p = 0; p < 3; ++p) producers.push_back(produce(b, token_for(b, what, p), 1 + 5 * p, 5));
    std::vector<task<>> everybody;
    everybody.push_back(close_after_all(b, std::move(producers)));
    for (int k = 0; k < 2; ++k) everybody.push_back(consume(b, token_for(b, what, k)));
    everybody.push_back(interfere(b, what, step));
    co_await when_all(std::move(everybody));
}

// Operations that don't wait: the one that has to go to the end of the queue all the same, one in
// 128, is then among those of the scenario.
task<> warm_up(channel<token>& c, int pairs) {
    for (int i = 0; i < pairs; ++i) {
        co_await c.put(token(100));
        const auto t = co_await c.get();
        if (!t) throw std::logic_error("an item was lost");
    }
}

// The first thing that is wrong, or nothing.
std::string check_books(std::uint64_t seed, event what, int step) {
    {
        virtual_time time(seed);
        books b(time);
        const int pairs = 44 + (static_cast<int>(seed) * 5 + step) % 20;
        sync_wait(time, warm_up(b.c, pairs));
        const weir::channel_stats before = b.c.stats();
        sync_wait(time, scenario(b, what, step));
        std::vector<int> inside;
        while (const auto t = b.c.try_get()) inside.push_back(t->id());
        std::vector<int> seen(16, 0);
        for (const int id : b.received) ++seen[static_cast<std::size_t>(id)];
        for (const int id : inside) ++seen[static_cast<std::size_t>(id)];
        const std::size_t out = b.received.size() + inside.size();
        if (b.kept_wrongly != 0) return "an item was moved from though it was refused, or not";
        for (const int id : b.returned) {
            if (++seen[static_cast<std::size_t>(id)] != 1) return "a returned item was received";
        }
        for (const int times : seen) {
            if (times > 1) return "an item was received twice";
        }
        if (what == event::cancel ? out > b.in.size() : out != b.in.size()) return "items were lost";
        const weir::channel_stats s = b.c.stats() - before;
        if (s.num_put != b.in.size()) return "num_put is not the puts that were done";
        if (s.num_get != out) return "num_get is not the gets that were done";
        if (s.num_discarded != s.num_put - out) return "num_discarded is not what a cancel destroyed";
        if (s.put_waits.count() != s.num_put || s.get_waits.count() != s.num_get) {
            return "a histogram has another count than its operations";
        }
    }
    if (token::alive != 0) return "an item was not destroyed, or twice";
    return "";
}

}  // namespace

TEST_CASE("at whatever step a channel is stopped, closed or cancelled, each item ends up in one place") {
    for (const event what : {event::stop_all, event::stop_some, event::close, event::cancel}) {
        for (std::uint64_t seed = 0; seed <= 10; ++seed) {
            for (int step = 0; step < 60; ++step) {
                const std::string wrong = check_books(seed, what, step);
                if (wrong.empty()) continue;
                CAPTURE(static_cast<int>(what), seed, step);
                FAIL_CHECK(wrong);
            }
        }
    }
    CHECK(token::moved_from_twice == 0);
}

namespace {

std::vector<int> numbers(int first, int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), first);
    return all;
}
std::vector<box> boxes(int count) {
    std::vector<box> all;
    for (int i = 0; i < count; ++i) all.push_back(std::make_unique<int>(i));
    return all;
}

template <class T, class Policy>
actor put_them(channel<T, Policy>& c, std::vector<T>& items, std::optional<std::size_t>& moved,
               weir::stop_token stop = {}) {
    moved = co_await c.put_some(items, stop);
}
template <class T, class Policy>
actor get_them(channel<T, Policy>& c, std::vector<T>& into, std::optional<std::size_t>& moved,
               weir::stop_token stop = {}) {
    moved = co_await c.get_some(into, stop);
}

actor nothing() { co_return; }

}  // namespace

TEST_CASE("a batch moves in order as many items as fit or are inside, at each capacity") {
    for (const std::size_t capacity : {1U, 2U, 3U, 7U, 64U}) {
        virtual_time time;
        channel<int> c(capacity, time);
        channel<int, weir::unmeasured> u(capacity, time);
        const auto through = [&]<class Policy>(channel<int, Policy>& each) -> task<> {
            for (std::size_t size = 1; size <= capacity + 2; ++size) {
                std::vector<int> in = numbers(0, static_cast<int>(size));
                std::vector<int> out(capacity + 5, -1);
                const std::size_t most = std::min(size, capacity);
                const std::size_t put = co_await each.put_some(in);
                CHECK(put == most);
                CHECK(each.size() == most);
                const std::size_t first = co_await each.get_some(std::span(out).first(1));
                CHECK(first == 1);
                CHECK(out[0] == 0);
                if (most == 1) continue;
                const std::size_t rest = co_await each.get_some(std::span(out).subspan(1));
                CHECK(rest == most - 1);
                for (std::size_t i = 0; i < most; ++i) CHECK(out[i] == static_cast<int>(i));
                CHECK(out[most] == -1);
                CHECK(each.size() == 0);
            }
        };
        sync_wait(time, through(c));
        sync_wait(time, through(u));
        CHECK(c.stats().num_put == c.stats().num_get);
    }
}

TEST_CASE("a batch that serves a waiting operation moves the rest at once, also around the end of the ring") {
    for (const bool getter_waits : {true, false}) {
        virtual_time time;
        channel<box> c(4, time);
        channel<box, weir::unmeasured> u(4, time);
        const auto through = [&]<class Policy>(channel<box, Policy>& each) {
            for (int turn = 0; turn < 4; ++turn) {  // the ring's end is elsewhere in each
                std::vector<box> in = boxes(6);
                std::vector<box> first(1);
                std::vector<box> out(6);
                std::optional<std::size_t> served;
                std::optional<std::size_t> put;
                std::optional<std::size_t> got;
                std::size_t n = 0;
                actor waits = getter_waits ? get_them(each, first, served) : nothing();
                if (getter_waits) run(waits, time);
                actor putter = put_them(each, in, put);
                run(putter, time);
                CHECK(put == (getter_waits ? 5U : 4U));
                std::vector<box> more(1);
                more[0] = std::make_unique<int>(static_cast<int>(*put));
                actor late = put_them(each, more, served);
                if (!getter_waits) run(late, time);
                if (getter_waits) CHECK(*first[0] == static_cast<int>(n++));
                actor getter = get_them(each, out, got);
                run(getter, time);
                CHECK(got == (getter_waits ? 4U : 5U));
                for (std::size_t i = 0; i < *got; ++i) CHECK(*out[i] == static_cast<int>(n++));
                CHECK(served == 1U);
                CHECK(each.size() == 0);
                // Moves the ring on by one.
                actor one = put_them(each, more, put);
                more[0] = std::make_unique<int>(0);
                run(one, time);
                actor same = get_them(each, first, got);
                run(same, time);
            }
        };
        through(c);
        through(u);
        CHECK(c.stats().num_put == c.stats().num_get);
        CHECK(c.stats().num_put == 4 * 6);
        CHECK(c.stats().put_waits.count() == 4 * 6);
    }
}

TEST_CASE("a batch counts each of its items, and its wait once") {
    virtual_time time;
    for (const std::size_t capacity : {2U, 4U}) {
        channel<int> c(capacity, time);
        const auto take = [&]() -> task<> {
            std::vector<int> out(10);
            const std::size_t first = co_await c.get_some(std::span(out).first(1));  // it waits for that
            CHECK(first == 1);
            co_await weir::sleep_for(5us);
            const std::size_t rest = co_await c.get_some(out);  // and that of the put that waits
            CHECK(rest == capacity + 1);
            for (std::size_t i = 0; i < rest; ++i) CHECK(out[i] == static_cast<int>(i) + 1);
        };
        const auto give = [&]() -> task<> {
            co_await weir::sleep_for(3us);
            std::vector<int> in = numbers(0, static_cast<int>(capacity) + 2);
            const std::size_t one = co_await c.put_some(std::span(in).first(1));
            CHECK(one == 1);
            const std::size_t more = co_await c.put_some(std::span(in).subspan(1));
            CHECK(more == capacity);
            co_await weir::sleep_for(1us);
            const std::size_t last = co_await c.put_some(std::span(in).last(1));  // waits
            CHECK(last == 1);
        };
        const auto before = time.now();
        sync_wait(time, when_all(take(), give()));
        CHECK(time.now() - before == 8us);
        const weir::channel_stats s = c.stats();
        CHECK(s.num_put == capacity + 2);
        CHECK(s.num_get == capacity + 2);
        CHECK(s.get_wait == 3us);
        CHECK(s.get_waits.count() == capacity + 2);
        CHECK(s.get_waits.max() == 3us);
        CHECK(s.put_wait == 4us);
        CHECK(s.put_waits.count() == capacity + 2);
        CHECK(s.put_waits.sum() == 4us);
        CHECK(s.empty == 3us);
    }
}

TEST_CASE("a batch that waits takes the first item by itself, and with it what has come since") {
    virtual_time time;
    channel<int> c(8, time);
    std::vector<int> into(4, -1);
    std::optional<std::size_t> got;
    actor getter = get_them(c, into, got);
    run(getter, time);
    CHECK_FALSE(got);
    for (int i = 0; i < 6; ++i) CHECK(c.try_put(i + 0) == channel_status::success);
    time.run_until(time.now());
    CHECK(got == 4);
    CHECK(into == numbers(0, 4));
    CHECK(c.size() == 2);
}

TEST_CASE("a batch that waits puts its first item by itself, and with it what there is room for since") {
    virtual_time time;
    channel<box> c(3, time);
    std::vector<box> before = boxes(3);
    std::vector<box> items = boxes(5);
    std::optional<std::size_t> first;
    std::optional<std::size_t> second;
    actor fills = put_them(c, before, first);
    run(fills, time);
    CHECK(first == 3);
    actor waits = put_them(c, items, second);
    run(waits, time);
    CHECK_FALSE(second);
    for (const box& b : items) CHECK(b != nullptr);
    CHECK(**c.try_get() == 0);
    CHECK(**c.try_get() == 1);
    time.run_until(time.now());
    CHECK(second == 2);
    CHECK(items[0] == nullptr);
    CHECK(items[1] == nullptr);
    for (std::size_t i = 2; i < 5; ++i) CHECK(*items[i] == static_cast<int>(i));
    CHECK(c.size() == 3);
}

TEST_CASE("a batch put serves who waits to get, one after the other") {
    virtual_time time;
    for (const std::size_t capacity : {1U, 4U}) {
        channel<int> c(capacity, time);
        std::array<std::vector<int>, 2> into{std::vector<int>(3), std::vector<int>(3)};
        std::array<std::optional<std::size_t>, 2> got;
        actor a = get_them(c, into[0], got[0]);
        actor b = get_them(c, into[1], got[1]);
        run(a, time);
        run(b, time);
        std::vector<int> items = numbers(7, 2);
        std::optional<std::size_t> put;
        actor p = put_them(c, items, put);
        run(p, time);
        CHECK(put == 2);
        CHECK(got[0] == 1);
        CHECK(got[1] == 1);
        CHECK(into[0][0] == 7);
        CHECK(into[1][0] == 8);
        CHECK(c.size() == 0);
    }
}

TEST_CASE("a batch get lets in as many of those who wait to put as it makes room for") {
    virtual_time time;
    channel<int> c(2, time);
    std::vector<int> items = numbers(0, 2);
    std::optional<std::size_t> put;
    actor fills = put_them(c, items, put);
    run(fills, time);
    std::array<std::vector<int>, 3> more{numbers(2, 1), numbers(3, 1), numbers(4, 1)};
    std::array<std::optional<std::size_t>, 3> in;
    std::array<std::optional<actor>, 3> puts;
    for (std::size_t i = 0; i < 3; ++i) {
        puts[i].emplace(put_them(c, more[i], in[i]));
        run(*puts[i], time);
        CHECK_FALSE(in[i]);
    }
    std::vector<int> out(4, -1);
    std::optional<std::size_t> got;
    actor gets = get_them(c, out, got);
    run(gets, time);
    CHECK(got == 4);
    CHECK(out == numbers(0, 4));
    for (const auto& each : in) CHECK(each == 1);
    CHECK(c.size() == 1);
}

TEST_CASE("an empty batch moves nothing, and does not wait") {
    virtual_time time;
    channel<int> c(1, time);
    sync_wait(time, [](channel<int>& each) -> task<> {
        const std::size_t got = co_await each.get_some(std::span<int>());
        const std::size_t put = co_await each.put_some(std::span<int>());
        CHECK(got + put == 0);
    }(c));
    CHECK(c.stats().num_put == 0);
    CHECK(time.now() == weir::time_point{});
}

TEST_CASE("a closed channel takes no batch, and a batch get takes the items inside before it gets none") {
    for (const std::size_t capacity : {2U, 8U}) {
        virtual_time time;
        channel<box> c(capacity, time);
        std::vector<box> items = boxes(2);
        std::optional<std::size_t> put;
        actor fills = put_them(c, items, put);
        run(fills, time);
        c.close();
        std::vector<box> refused = boxes(2);
        actor late = put_them(c, refused, put);
        run(late, time);
        CHECK(put == 0);
        CHECK(refused[0] != nullptr);
        std::vector<box> out(5);
        std::optional<std::size_t> got;
        actor last = get_them(c, out, got);
        run(last, time);
        CHECK(got == 2);
        CHECK(*out[1] == 1);
        actor none = get_them(c, out, got);
        run(none, time);
        CHECK(got == 0);
        CHECK(*out[1] == 1);
    }
}

TEST_CASE("closing a channel ends the wait of a batch, and a put's items stay with the caller") {
    virtual_time time;
    channel<box> full(1, time);
    channel<box> empty(1, time);
    CHECK(full.try_put(std::make_unique<int>(9)) == channel_status::success);
    std::vector<box> items = boxes(2);
    std::vector<box> into(2);
    std::optional<std::size_t> put;
    std::optional<std::size_t> got;
    actor p = put_them(full, items, put);
    actor g = get_them(empty, into, got);
    run(p, time);
    run(g, time);
    CHECK_FALSE(put);
    CHECK_FALSE(got);
    full.close();
    empty.close();
    time.run_until(time.now());
    CHECK(put == 0);
    CHECK(got == 0);
    CHECK(*items[0] == 0);
    CHECK(*items[1] == 1);
    CHECK(full.size() == 1);
}

TEST_CASE("a stop ends the wait of a batch, and loses nothing that was handed over before") {
    virtual_time time;
    channel<box> c(1, time);
    weir::stop_source stop;
    std::vector<box> into(2);
    std::optional<std::size_t> got;
    actor g = get_them(c, into, got, stop.get_token());
    run(g, time);
    CHECK(c.try_put(std::make_unique<int>(4)) == channel_status::success);  // handed over
    stop.request_stop();
    time.run_until(time.now());
    CHECK(got == 1);
    CHECK(*into[0] == 4);
    actor again = get_them(c, into, got, stop.get_token());
    run(again, time);
    CHECK(got == 0);

    CHECK(c.try_put(std::make_unique<int>(5)) == channel_status::success);
    weir::stop_source other;
    std::vector<box> items = boxes(2);
    std::optional<std::size_t> put;
    actor p = put_them(c, items, put, other.get_token());
    run(p, time);
    CHECK_FALSE(put);
    other.request_stop();
    time.run_until(time.now());
    CHECK(put == 0);
    CHECK(*items[0] == 0);
}

TEST_CASE("a coroutine that is destroyed while its batch waits, or has been served, leaves nothing behind") {
    virtual_time time;
    channel<box> c(1, time);
    std::vector<box> into(2);
    std::optional<std::size_t> got;
    {
        actor g = get_them(c, into, got);
        run(g, time);
    }
    CHECK(c.try_put(std::make_unique<int>(1)) == channel_status::success);
    CHECK(c.size() == 1);
    std::vector<box> items = boxes(1);
    std::optional<std::size_t> put;
    {
        actor p = put_them(c, items, put);
        run(p, time);
    }
    CHECK(*items[0] == 0);
    CHECK(**c.try_get() == 1);
    CHECK(c.size() == 0);
}

TEST_CASE("a coroutine that is destroyed before it resumes destroys the item that was handed to its batch") {
    virtual_time time;
    channel<std::shared_ptr<int>> c(1, time);
    std::vector<std::shared_ptr<int>> into(2);
    std::optional<std::size_t> got;
    const auto item = std::make_shared<int>(1);
    {
        actor g = get_them(c, into, got);
        run(g, time);
        CHECK(c.try_put(std::shared_ptr<int>(item)) == channel_status::success);
        CHECK(item.use_count() == 2);
    }
    CHECK(item.use_count() == 1);
    CHECK_FALSE(got);
}

TEST_CASE("the time that a channel is empty is exact, whatever is put or taken at once") {
    for (const std::size_t capacity : {2U, 3U, 8U}) {
        virtual_time time;
        channel<int> c(capacity, time);
        sync_wait(time, [](channel<int>& each) -> task<> {
            std::vector<int> items(2);
            for (int i = 0; i < 5; ++i) {
                co_await weir::sleep_for(1us);
                co_await each.put_some(items);
                co_await weir::sleep_for(10us);
                co_await each.get_some(items);
            }
            co_await weir::sleep_for(1us);
        }(c));
        CHECK(c.stats().empty == 6us);
    }
}

TEST_CASE("a limit in bytes holds for each item of a batch") {
    virtual_time time;
    channel<std::string> c(8, time);
    c.set_max_bytes(2 * weir::item_size<std::string>::of(std::string(100, 'a')));
    std::vector<std::string> items(3, std::string(100, 'a'));
    std::optional<std::size_t> put;
    actor p = put_them(c, items, put);
    run(p, time);
    CHECK(put == 2);
    CHECK(items[1].empty());
    CHECK(items[2].size() == 100);
    std::vector<std::string> out(3);
    std::optional<std::size_t> got;
    actor g = get_them(c, out, got);
    run(g, time);
    CHECK(got == 2);
    CHECK(c.stats().bytes == 0);
}

TEST_CASE("batches that always find their channel ready let others of their executor go on") {
    for (const std::size_t size : {1U, 3U, 64U, 200U}) {
        virtual_time time;
        channel<int, weir::unmeasured> c(256, time);
        std::uint64_t passed = 0;
        std::uint64_t others = 0;
        bool done = false;
        const auto moves = [&]() -> task<> {
            std::vector<int> items(size);
            while (passed < 10'000) {
                const std::size_t in = co_await c.put_some(items);
                const std::size_t out = co_await c.get_some(items);
                CHECK(in == size);
                CHECK(out == size);
                passed += size;
            }
            done = true;
        };
        const auto counts = [&]() -> task<> {
            while (!done) {
                ++others;
                co_await weir::schedule(time);
            }
        };
        sync_wait(time, when_all(moves(), counts()));
        CHECK(others >= 2 * (passed / 256));
        CHECK(others <= 2 * (passed / (size > 128 ? size : 128)) + 3);
    }
}

TEST_CASE("a batch that goes to the end of the queue reads nothing of a frame that may be gone") {
    runs_within_post ex;
    channel<int, weir::unmeasured> c(256);
    std::vector<int> items(200);
    std::size_t in = 0;
    std::size_t out = 0;
    const auto moves = [&](weir::executor&) -> vanishing {
        in = co_await c.put_some(items);
        out = co_await c.get_some(items);
    };
    moves(ex);
    CHECK(in == 200);
    CHECK(out == 200);
    CHECK(ex.posted == 2);
}

TEST_CASE("what waits in a stage's function for a batch ends with its run") {
    virtual_time time;
    channel<int> never(1, time);
    auto run = (weir::source(std::vector<int>{1}) | weir::pipe([&](int) -> task<int> {
                    std::vector<int> into(2);
                    co_return static_cast<int>(co_await never.get_some(into));
                }) |
                weir::sink(1))
                   .start(time);
    time.run_until(time.now());
    run.stop();
    time.run_until(time.now());
    CHECK(never.size() == 0);
    CHECK(never.try_put(1) == channel_status::success);
    CHECK(never.size() == 1);  // nobody waits for it any more
}

TEST_CASE("many threads move batches, and each item arrives once") {
    weir::thread_pool pool(3);
    for (const std::size_t capacity : {1U, 2U, 5U, 64U}) {
        channel<std::uint64_t> c(capacity, pool);
        constexpr std::uint64_t each = 6'000;
        constexpr std::uint64_t producers = 2;
        weir::detail::standard_platform::atomic<std::uint64_t> sum{0};
        weir::detail::standard_platform::atomic<std::uint64_t> count{0};
        weir::detail::standard_platform::atomic<std::uint64_t> going{producers};
        const auto give = [&](std::uint64_t first) -> task<> {
            std::array<std::uint64_t, 9> items{};
            for (std::uint64_t i = 0; i < each;) {
                const std::size_t n = std::min<std::size_t>(items.size(), each - i);
                std::iota(items.begin(), items.end(), first + i);
                i += co_await c.put_some(std::span(items).first(n));
            }
            if (going.fetch_sub(1) == 1) c.close();
        };
        const auto take = [&]() -> task<> {
            std::array<std::uint64_t, 7> items{};
            while (const std::size_t n = co_await c.get_some(items)) {
                count += n;
                for (std::size_t i = 0; i < n; ++i) sum += items[i];
            }
        };
        sync_wait(pool, when_all(give(0), give(each), take(), take()));
        constexpr std::uint64_t all = producers * each;
        CHECK(count == all);
        CHECK(sum == all * (all - 1) / 2);
        const weir::channel_stats s = c.stats();
        CHECK(s.num_put == all);
        CHECK(s.num_get == all);
    }
}
