// All members of a run from four threads at once, while it goes on, fails, is stopped and ends: nothing hangs,
// every item is destroyed once, and who has stopped it finds nothing at work.
#include <weir/run/run.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/run/failure.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>

#include <atomic>
#include <chrono>
#include <random>
#include <ranges>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using items::counted;
using items::ledger;
using weir::run_outcome;
using namespace std::chrono_literals;

namespace {

constexpr int callers = 4;

// What the threads of one run know of each other.
struct beside {
    std::atomic<int> ready{0};
    std::atomic<int> inside{0};    // invocations
    std::atomic<int> found{0};     // those that somebody found after a stop
    std::atomic<int> failures{0};  // that were thrown
    std::atomic<int> contradictions{0};
};

template <class Run>
void take(Run& run, beside& all, std::minstd_rand& random) {
    // What has failed may still be paused.
    const run_outcome how = run.outcome();
    const bool waits = how != run_outcome::running && how != run_outcome::failed;
    try {
        switch (waits ? random() % 4 : random() % 2) {
            case 0:
                static_cast<void>(run.get(std::chrono::microseconds(random() % 50)));
                break;
            case 1:
                static_cast<void>(run.get(0ns));
                break;
            case 2:
                static_cast<void>(run.get_in_epoch());
                break;
            default:
                static_cast<void>(weir::sync_wait(run.next()));
        }
    } catch (const weir::pipeline_failure&) {
        ++all.failures;
    }
}

// `ends`: from which call on it may end the run.
template <class Run>
void call_members(Run& run, const weir::stop_source& token, beside& all, unsigned seed, int ends) {
    std::minstd_rand random(seed);
    ++all.ready;
    while (all.ready < callers) {
    }
    run_outcome before = run_outcome::running;
    for (int i = 0; i < 60; ++i) {
        const auto what = random() % (i < ends ? 9 : 12);
        switch (what) {
            case 0:
                run.pause();
                break;
            case 1:
                run.resume();
                break;
            case 2:
                run.set_concurrency("work", 1 + random() % 4);
                break;
            case 3:
                run.set_capacity(random() % 2 == 0 ? "work" : "sink", 1 + random() % 4);
                break;
            case 4:
                all.contradictions += run.stats().stages.size() < 2 ? 1 : 0;
                break;
            case 5:
                all.contradictions += run.stages().size() != 3 ? 1 : 0;
                break;
            case 6:
                static_cast<void>(run.checkpoint());
                break;
            case 7:
            case 8:
                take(run, all, random);
                break;
            case 9:
                run.request_stop();
                break;
            case 10:
                token.request_stop();
                break;
            default:
                run.stop();
                all.found += all.inside;
                all.contradictions += run.outcome() == run_outcome::running ? 1 : 0;
        }
        const bool ended = run.ended();
        const run_outcome now = run.outcome();
        if (before != run_outcome::running && before != now) ++all.contradictions;
        if (ended && now == run_outcome::running) ++all.contradictions;
        before = now;
    }
    run.stop();
    all.found += all.inside;
}

}  // namespace

TEST_CASE("all members of a run are called from four threads at once, and it ends as one run ends") {
    const weir::failure_sink before = weir::set_failure_sink(nullptr);
    weir::thread_pool pool(2);
    for (unsigned round = 0; round < 400; ++round) {
        CAPTURE(round);
        ledger book(100'000);
        beside all;
        {
            const weir::stop_source token;
            const bool fails = round % 3 == 0;
            const auto work = [&](const weir::draw& d) {
                ++all.inside;
                std::this_thread::yield();
                --all.inside;
                if (fails && d.index == 40) throw std::runtime_error("forty");
                return counted(book);
            };
            weir::run_options options;
            if (round % 2 == 0) options.stop = token.get_token();
            auto run = (weir::source(weir::draws(weir::sampler({.size = 50}), 3)) |
                        weir::pipe(work, {.name = "work", .concurrency = 2}) | weir::sink(2))
                           .start(pool, options);
            std::vector<std::thread> threads;
            for (unsigned i = 0; i < callers; ++i) {
                threads.emplace_back([&, i] {
                    call_members(run, token, all, 4 * round + i + 1, static_cast<int>(round % 60));
                });
            }
            for (std::thread& t : threads) t.join();
            CHECK(run.outcome() != run_outcome::running);
        }
        CHECK(all.found == 0);
        CHECK(all.contradictions == 0);
        CHECK(all.failures <= 1);
        CHECK(book.alive() == 0);
        CHECK(book.died_twice() == 0);
    }
    weir::set_failure_sink(before);
}
