#include <weir/task/stop_token.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/select.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using weir::stop_callback;
using weir::stop_source;
using weir::stop_token;

namespace {

using callback = stop_callback<std::function<void()>>;

static_assert(std::is_nothrow_default_constructible_v<stop_token>);
static_assert(std::is_nothrow_copy_constructible_v<stop_token>);
static_assert(std::is_nothrow_move_assignable_v<stop_source>);
static_assert(!std::is_copy_constructible_v<callback> && !std::is_move_constructible_v<callback>);
static_assert(sizeof(stop_token) == sizeof(void*));

template <class F>
using made_of = decltype(stop_callback(std::declval<stop_token>(), std::declval<F>()));
struct functor {
    void operator()() const noexcept {}
};
static_assert(std::is_same_v<made_of<functor>, stop_callback<functor>>);
static_assert(std::is_same_v<made_of<functor&>, stop_callback<functor>>);
static_assert(std::is_nothrow_constructible_v<stop_callback<functor>, stop_token, functor>);
static_assert(!std::is_constructible_v<stop_callback<functor>, stop_token, int>);

}  // namespace

TEST_CASE("a default stop token never stops") {
    const stop_token never;
    CHECK_FALSE(never.stop_requested());
    CHECK_FALSE(never.stop_possible());
    CHECK(never == stop_token());
    bool called = false;
    {
        const stop_callback on_stop(never, [&] { called = true; });
    }
    CHECK_FALSE(called);
}

TEST_CASE("a stop is requested once and seen by every token") {
    stop_source source;
    const stop_token token = source.get_token();
    const stop_source same = source;
    CHECK(token.stop_possible());
    CHECK_FALSE(token.stop_requested());
    CHECK_FALSE(source.stop_requested());
    CHECK(same.request_stop());
    CHECK_FALSE(source.request_stop());
    CHECK(token.stop_requested());
    CHECK(source.stop_requested());
    CHECK(source.get_token() == token);
    CHECK(source == same);
    CHECK_FALSE(source == stop_source());
    CHECK_FALSE(token == stop_source().get_token());
}

TEST_CASE("a token without sources can't stop any more, unless a stop was requested") {
    auto a = std::make_unique<stop_source>();
    auto b = std::make_unique<stop_source>(*a);
    const stop_token left_alone = a->get_token();
    a.reset();
    CHECK(left_alone.stop_possible());
    *b = stop_source();  // assignment lets go, too
    CHECK_FALSE(left_alone.stop_possible());
    const stop_token stopped = b->get_token();
    b->request_stop();
    b.reset();
    CHECK(stopped.stop_possible());
    CHECK(stopped.stop_requested());
    bool called = false;
    {
        const stop_callback on_stop(left_alone, [&] { called = true; });
    }
    CHECK_FALSE(called);
}

TEST_CASE("a source that was moved from requests nothing") {
    stop_source from;
    const stop_token token = from.get_token();
    stop_source to = std::move(from);
    CHECK_FALSE(from.stop_possible());  // NOLINT(bugprone-use-after-move): that is the test
    CHECK_FALSE(from.request_stop());
    CHECK_FALSE(from.stop_requested());
    CHECK_FALSE(from.get_token().stop_possible());
    CHECK(token.stop_possible());
    CHECK(to.request_stop());
    from = to;
    CHECK(from.stop_requested());
}

TEST_CASE("a callback runs once, inside request_stop") {
    stop_source source;
    int calls = 0;
    const stop_callback on_stop(source.get_token(), [&] {
        ++calls;
        CHECK(source.stop_requested());
        CHECK_FALSE(source.request_stop());
    });
    CHECK(calls == 0);
    source.request_stop();
    CHECK(calls == 1);
    source.request_stop();
    CHECK(calls == 1);
}

TEST_CASE("a callback runs in its constructor if the stop was requested before") {
    stop_source source;
    source.request_stop();
    int calls = 0;
    const stop_callback on_stop(source.get_token(), [&] { ++calls; });
    CHECK(calls == 1);
}

TEST_CASE("a destroyed callback is not called") {
    stop_source source;
    int calls = 0;
    std::vector<std::unique_ptr<callback>> all;
    for (int i = 0; i < 5; ++i) {
        all.push_back(std::make_unique<callback>(source.get_token(), [&calls, i] { calls += 1 << i; }));
    }
    all[0].reset();  // from the end, the middle and the beginning of the list
    all[2].reset();
    all[4].reset();
    source.request_stop();
    CHECK(calls == (1 << 1) + (1 << 3));
}

TEST_CASE("a callback may be a move-only function, a reference or a pointer to one") {
    stop_source source;
    int calls = 0;
    auto box = std::make_unique<int>(7);
    const stop_callback owning(source.get_token(), [&calls, b = std::move(box)] { calls += *b; });
    std::function<void()> named = [&calls] { calls += 10; };
    const stop_callback<std::function<void()>&> referring(source.get_token(), named);
    const stop_callback<void (*)()> pointing(source.get_token(), [] {});
    source.request_stop();
    CHECK(calls == 17);
}

TEST_CASE("a callback that can't be constructed is not registered") {
    struct fragile {
        explicit fragile(int) { throw std::runtime_error("no"); }
        void operator()() const {}
    };
    const stop_source source;
    CHECK_THROWS_AS(stop_callback<fragile>(source.get_token(), 1), std::runtime_error);
    CHECK(source.request_stop());
}

TEST_CASE("a callback may destroy itself") {
    stop_source source;
    int calls = 0;
    std::optional<callback> on_stop;
    on_stop.emplace(source.get_token(), [&] {
        int* const told = &calls;  // what is captured goes with the callback
        on_stop.reset();
        ++*told;
    });
    source.request_stop();
    CHECK(calls == 1);
    CHECK_FALSE(on_stop.has_value());
}

TEST_CASE("a callback may destroy all owners of its state") {
    std::optional<stop_source> source(std::in_place);
    std::optional<stop_token> token(source->get_token());
    std::optional<callback> on_stop;
    bool destroyed = false;
    on_stop.emplace(*token, [&] {
        bool* const told = &destroyed;  // what is captured goes with the callback
        source.reset();
        token.reset();
        on_stop.reset();
        *told = true;
    });
    CHECK(source->request_stop());
    CHECK(destroyed);
}

TEST_CASE("a callback may destroy others, called and uncalled, and register new ones") {
    stop_source source;
    std::vector<std::unique_ptr<callback>> all(3);
    int calls = 0;
    int late = 0;
    for (auto& one : all) {
        one = std::make_unique<callback>(source.get_token(), [&] {
            ++calls;
            if (calls != 2) return;
            const stop_callback inner(source.get_token(), [&late] { ++late; });
            for (auto& other : all) other.reset();
        });
    }
    source.request_stop();
    CHECK(calls == 2);
    CHECK(late == 1);
}

TEST_CASE("two sources may stop each other") {
    stop_source a;
    stop_source b;
    int calls = 0;
    const stop_callback on_a(a.get_token(), [&] {
        b.request_stop();
        ++calls;
    });
    const stop_callback on_b(b.get_token(), [&] {
        a.request_stop();
        ++calls;
    });
    CHECK(a.request_stop());
    CHECK(calls == 2);
}

TEST_CASE("if many threads request a stop, one request succeeds") {
    for (int round = 0; round < 50; ++round) {
        stop_source source;
        std::atomic<int> made{0};
        int calls = 0;  // written by the one
        const stop_callback on_stop(source.get_token(), [&] { ++calls; });
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] { made += source.request_stop() ? 1 : 0; });
        }
        for (auto& t : threads) t.join();
        CHECK(made == 1);
        CHECK(calls == 1);
    }
}

TEST_CASE("a thread that sees the request sees the writes before it") {
    for (int round = 0; round < 200; ++round) {
        stop_source source;
        int value = 0;
        std::thread writer([&] {
            value = 42;
            source.request_stop();
        });
        while (!source.get_token().stop_requested()) std::this_thread::yield();
        CHECK(value == 42);
        writer.join();
    }
}

TEST_CASE("callbacks come and go while a stop is requested, and each runs once at most") {
    for (int round = 0; round < 300; ++round) {
        stop_source source;
        std::atomic<int> go{0};
        int calls[2][4] = {};
        const auto come_and_go = [&](int who) {
            ++go;
            while (go != 3) std::this_thread::yield();
            for (int& count : calls[who]) {
                // In a frame of its own: what the callback writes is read after its destructor.
                const stop_callback on_stop(source.get_token(), [&count] { ++count; });
                if (who == 0) std::this_thread::yield();
            }
        };
        std::thread one([&] { come_and_go(0); });
        std::thread two([&] { come_and_go(1); });
        ++go;
        while (go != 3) std::this_thread::yield();
        source.request_stop();
        one.join();
        two.join();
        bool once_at_most = true;
        for (const auto& of_thread : calls) {
            bool stopped = false;
            for (const int count : of_thread) {
                // After the first that was called, all are: the stop doesn't go away.
                once_at_most = once_at_most && count <= 1 && (!stopped || count == 1);
                stopped = stopped || count == 1;
            }
        }
        CHECK(once_at_most);
    }
}

TEST_CASE("the last owner frees the state, whoever it is") {
    for (int round = 0; round < 200; ++round) {
        auto source = std::make_unique<stop_source>();
        stop_token token = source->get_token();
        std::thread holder([mine = std::move(token)]() mutable {
            static_cast<void>(mine.stop_possible());
            mine = stop_token();
        });
        source.reset();
        holder.join();
    }
    SUCCEED("checked by the sanitizers");
}

#ifdef __cpp_lib_jthread

TEST_CASE("a stop token that was made from a std::stop_token sees the requests of its source") {
    std::stop_source there;
    const stop_token here = there.get_token();
    const stop_token same = here;
    const stop_token other = there.get_token();
    CHECK(here.stop_possible());
    CHECK(same == here);
    CHECK(other != here);
    int calls = 0;
    const stop_callback on_stop(here, [&] { ++calls; });
    const stop_callback on_std(there.get_token(), [&] { ++calls; });
    CHECK_FALSE(here.stop_requested());
    there.request_stop();
    CHECK(here.stop_requested());
    CHECK(same.stop_requested());
    CHECK(calls == 2);
    CHECK(stop_token(there.get_token()).stop_requested());
}

TEST_CASE("a std::stop_token without a source makes a stop token without one") {
    const stop_token never = std::stop_token();
    CHECK(never == stop_token());
    std::stop_token left;
    {
        const std::stop_source gone;
        left = gone.get_token();
    }
    CHECK_FALSE(stop_token(left).stop_possible());
}

TEST_CASE(
    "no stop is possible when the last source of the std::stop_token is gone, unless one was requested") {
    const bool requests = GENERATE(false, true);
    stop_token token;
    {
        std::stop_source there;
        token = there.get_token();
        const std::stop_source other = there;
        CHECK(token.stop_possible());
        if (requests) there.request_stop();
        CHECK(token.stop_possible());
    }
    CHECK(token.stop_possible() == requests);
    CHECK(token.stop_requested() == requests);
}

TEST_CASE("tokens that were made from a std::stop_token may go before the stop, during it, and after it") {
    std::stop_source there;
    {
        const stop_token gone = there.get_token();
    }
    std::optional<stop_token> last = there.get_token();
    std::optional<callback> on_stop;
    bool called = false;
    on_stop.emplace(*last, [&] {
        called = true;
        last.reset();
        on_stop.reset();
    });
    const stop_token after = there.get_token();
    there.request_stop();
    CHECK(called);
    CHECK(after.stop_requested());
}

TEST_CASE("a std::stop_source is asked to stop while other threads drop the tokens that were made from it") {
    for (int round = 0; round < 200; ++round) {
        std::stop_source there;
        std::atomic<int> heard{0};
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 3; ++i) {
                threads.emplace_back([&, token = there.get_token()] {
                    const stop_token here = token;
                    const stop_callback on_stop(here, [&] { ++heard; });
                    const bool stops = here.stop_requested();
                    if (stops) CHECK(heard.load() >= 0);
                });
            }
            there.request_stop();
        }
        CHECK(heard.load() <= 3);
    }
}

TEST_CASE("runs, channels, sleeps and select take the stop token of a std::jthread") {
    weir::virtual_time time;
    std::stop_source stop;
    weir::channel<int> empty(1, time), full(1, time);
    CHECK(full.try_put(1) == weir::channel_status::success);
    auto run = (weir::source(std::views::iota(0)) | weir::pipe([](int i) { return i; }) | weir::sink(1))
                   .start(time, {.stop = stop.get_token()});
    const auto waits = [&](std::stop_token token) -> weir::task<int> {
        int stopped = 0;
        const bool slept = co_await weir::sleep_for(std::chrono::hours(1), token);
        stopped += slept ? 0 : 1;
        const auto got = co_await empty.get(token);
        stopped += got ? 0 : 1;
        const bool put = co_await full.put(2, token);
        stopped += put ? 0 : 1;
        const auto late = co_await empty.get_for(std::chrono::hours(1), token);
        stopped += late.status() == weir::channel_status::stopped ? 1 : 0;
        const auto chosen = co_await weir::select(weir::on_get(empty), token);
        stopped += chosen.status() == weir::channel_status::stopped ? 1 : 0;
        co_return stopped;
    };
    const auto stops = [&]() -> weir::task<> {
        co_await weir::sleep_for(std::chrono::seconds(1));
        stop.request_stop();
    };
    const auto ends = weir::sync_wait(time, weir::when_all(waits(stop.get_token()), stops()));
    CHECK(std::get<0>(ends) == 5);
    CHECK(time.now().time_since_epoch() == std::chrono::seconds(1));
    static_cast<void>(run.drain());
    CHECK(run.outcome() == weir::run_outcome::stopped_by_token);
}

#endif
