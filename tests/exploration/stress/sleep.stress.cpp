// Sleeps against stops from other threads: each ends once, by one of the two.
#include <weir/task/sleep.hpp>

#include "support/catch.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <random>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::task;

namespace {

struct counts {
    std::atomic<int> slept{0}, stopped{0}, early{0};
};

task<> sleep(weir::executor& ex, weir::duration d, weir::stop_token stop, counts& all) {
    const weir::time_point due = ex.now() + d;
    const bool slept = co_await weir::sleep_for(d, std::move(stop));
    if (slept) {
        if (ex.now() < due) all.early.fetch_add(1);
        all.slept.fetch_add(1);
    } else {
        all.stopped.fetch_add(1);
    }
}

task<> sleep_many(weir::executor& ex, std::deque<weir::stop_source>& sources, unsigned seed, counts& all) {
    std::minstd_rand random(seed);
    std::vector<task<>> sleeps;
    for (weir::stop_source& s : sources) {
        // Most are over at about the time of the stop; some would outlast the test by far.
        const auto ns = static_cast<std::int64_t>(random() % 200'000);
        const weir::duration d = random() % 8 == 0 ? weir::duration(1h) : weir::duration(ns);
        sleeps.push_back(sleep(ex, d, s.get_token(), all));
    }
    co_await weir::when_all(std::move(sleeps));
}

}  // namespace

TEST_CASE("sleeps that other threads stop at any moment end once, and none of them too early") {
    constexpr std::size_t rounds = 20, each = 500, stoppers = 2;
    weir::thread_pool pool(3);
    counts all;
    for (std::size_t r = 0; r < rounds; ++r) {
        std::deque<weir::stop_source> sources(each);
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < stoppers; ++t) {
            threads.emplace_back([&, t] {
                for (std::size_t i = t; i < each; i += stoppers) {
                    sources[i].request_stop();
                    if (i % 32 == t) std::this_thread::yield();
                }
            });
        }
        weir::sync_wait(pool, sleep_many(pool, sources, static_cast<unsigned>(r) + 1, all));
        for (std::thread& t : threads) t.join();
    }
    CHECK(all.slept + all.stopped == static_cast<int>(rounds * each));
    CHECK(all.stopped > 0);
    CHECK(all.early == 0);
}

TEST_CASE("coroutines that stop each other's sleeps all end") {
    struct body {
        // Sleeps until its neighbour stops it, then stops the next.
        static task<> pass_on(weir::stop_token mine, weir::stop_source& next, std::atomic<int>& woken) {
            const bool slept = co_await weir::sleep_for(1h, std::move(mine));
            if (!slept) woken.fetch_add(1);
            next.request_stop();
        }
        static task<> ring(std::deque<weir::stop_source>& sources, std::atomic<int>& woken) {
            std::vector<task<>> all;
            for (std::size_t i = 0; i + 1 < sources.size(); ++i) {
                all.push_back(pass_on(sources[i].get_token(), sources[i + 1], woken));
            }
            all.push_back(pass_on(sources.back().get_token(), sources.front(), woken));
            all.push_back(begin(sources[sources.size() / 2]));
            co_await weir::when_all(std::move(all));
        }
        static task<> begin(weir::stop_source& first) {
            first.request_stop();
            co_return;
        }
    };
    weir::thread_pool pool(3);
    for (int i = 0; i < 50; ++i) {
        std::deque<weir::stop_source> sources(50);
        std::atomic<int> woken{0};
        weir::sync_wait(pool, body::ring(sources, woken));
        REQUIRE(woken == 50);
    }
}
