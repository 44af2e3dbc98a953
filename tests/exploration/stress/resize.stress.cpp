// Runs that are changed by other threads while they go on: slots come and go, queues get longer and
// shorter, the whole is paused; nothing is lost or doubled, and every slot's times add up.
#include <weir/run/worker_set.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using items::counted;
using items::ledger;
using weir::task;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

weir::stage_options named(const char* name, std::size_t slots,
                          weir::output_order order = weir::output_order::completion) {
    weir::stage_options o;
    o.name = name;
    o.concurrency = slots;
    o.output_order = order;
    return o;
}

task<int> waits(int n) {
    if (n % 3 == 0) co_await weir::yield();
    if (n % 50 == 0) co_await weir::sleep_for(10us);
    co_return n;
}
int same(int n) { return n; }

// Changes a run until it is told to stop; says what it saw that is wrong.
template <class Run>
std::string unrest(Run& run, std::uint64_t seed, const std::atomic<bool>& over, bool pauses) {
    std::mt19937_64 random(seed);
    const std::vector<const char*> names = {"waits", "ordered", "own"};
    while (!over) {
        const char* const name = names[random() % names.size()];
        switch (random() % 5) {
            case 0:
                run.set_capacity(name, random() % 6 + 1);
                break;
            case 1:
                if (pauses) run.pause();
                break;
            default:
                run.set_concurrency(name, random() % 5 + 1);
                break;
        }
        if (pauses) run.resume();
        const auto s = run.stats();
        for (const auto& stage : s.stages) {
            for (const auto& slot : stage.per_slot) {
                if (slot.total() != stage.elapsed) return "a slot of " + stage.name + " doesn't add up";
            }
        }
        for (std::uint64_t i = random() % 32; i > 0; --i) std::this_thread::yield();
    }
    run.resume();
    return {};
}

auto busy_pipeline(int items) {
    return weir::source(std::views::iota(0, items)) | weir::pipe(waits, named("waits", 2)) |
           weir::pipe(same, named("ordered", 3, weir::output_order::input)) | weir::aggregate(3) |
           weir::disaggregate() |
           weir::pipe(weir::per_slot(
                          [] { return [calls = 0](int n) mutable { return ++calls > 0 ? n : 0; }; }),
                      named("own", 2)) |
           weir::sink();
}

template <class Policy>
void run_in_unrest(int items, bool pauses) {
    weir::thread_pool pool(2);
    auto run = busy_pipeline(items).template start<Policy>(pool);
    std::atomic<bool> over{false};
    std::vector<std::string> wrong(2);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        threads.emplace_back([&, i] { wrong[i] = unrest(run, i + 1, over, pauses); });
    }
    ints all;
    while (const auto n = run.get()) all.push_back(*n);
    over = true;
    for (std::thread& t : threads) t.join();
    for (const std::string& w : wrong) CHECK(w.empty());
    std::ranges::sort(all);
    CHECK((std::ranges::equal(all, std::views::iota(0, items))));
}

}  // namespace

TEST_CASE("slots and queues change at random under many threads, and each item passes once") {
    run_in_unrest<weir::measured>(60'000, false);
    run_in_unrest<weir::unmeasured>(60'000, false);
}

TEST_CASE("a run is paused and resumed by threads that also change it, and goes on") {
    run_in_unrest<weir::measured>(40'000, true);
    run_in_unrest<weir::unmeasured>(40'000, true);
}

TEST_CASE("the order of the input is kept while threads change the slots") {
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(0, 20'000)) |
                weir::pipe(waits, named("waits", 3, weir::output_order::input)) |
                weir::pipe(same, named("ordered", 2, weir::output_order::input)) |
                weir::pipe(same, named("own", 1, weir::output_order::input)) | weir::sink())
                   .start(pool);
    std::atomic<bool> over{false};
    std::string wrong;
    std::thread changer([&] { wrong = unrest(run, 3, over, false); });
    int next = 0;
    int misplaced = 0;
    while (const auto n = run.get()) misplaced += *n == next++ ? 0 : 1;
    over = true;
    changer.join();
    CHECK(misplaced == 0);
    CHECK(next == 20'000);
    CHECK(wrong.empty());
}

TEST_CASE("epochs stay apart while threads change the slots") {
    weir::thread_pool pool(2);
    constexpr int size = 50;
    auto run = (weir::source(weir::epochs(
                    [](std::uint64_t e) {
                        const int first = static_cast<int>(e) * size;
                        return std::views::iota(first, first + size);
                    },
                    200)) |
                weir::pipe(waits, named("waits", 3)) |
                weir::pipe(same, named("ordered", 2, weir::output_order::input)) | weir::aggregate(7) |
                weir::disaggregate() | weir::pipe(same, named("own", 1)) | weir::sink())
                   .start(pool);
    std::atomic<bool> over{false};
    std::string wrong;
    std::thread changer([&] { wrong = unrest(run, 4, over, true); });
    int epochs = 0;
    int strangers = 0;
    int seen = 0;
    for (auto& epoch : run.epochs()) {
        for (const int n : epoch) {
            strangers += n / size == epochs ? 0 : 1;
            ++seen;
        }
        ++epochs;
    }
    over = true;
    changer.join();
    CHECK(epochs == 200);
    CHECK(seen == 200 * size);
    CHECK(strangers == 0);
    CHECK(wrong.empty());
}

TEST_CASE("a run that threads change is left, stopped or fails at any time, and every item dies once") {
    weir::thread_pool pool(2);
    for (int round = 0; round < 60; ++round) {
        ledger book(100'000);
        {
            const auto made = [&book, left = 2000]() mutable -> std::optional<counted> {
                if (left-- == 0) return std::nullopt;
                return counted(book);
            };
            const auto passes = [round](counted c) {
                if (round % 3 == 0 && c.number() == static_cast<std::size_t>(round) * 20) {
                    throw std::runtime_error("this one");
                }
                return c;
            };
            const auto later = [](counted c) -> task<counted> {
                if (c.number() % 4 == 0) co_await weir::yield();
                co_return c;
            };
            auto run = (weir::source(made) | weir::pipe(later, named("waits", 2)) |
                        weir::pipe(passes, named("ordered", 2, weir::output_order::input)) |
                        weir::aggregate(3, {.max_delay = 10us}) | weir::disaggregate() |
                        weir::pipe(later, named("own", 2)) | weir::sink())
                           .start(pool);
            std::atomic<bool> over{false};
            std::string wrong;
            std::thread changer(
                [&] { wrong = unrest(run, static_cast<std::uint64_t>(round), over, round % 2 == 0); });
            try {
                for (int i = 0; i < round * 10; ++i) {
                    if (!run.get()) break;
                }
                if (round % 3 == 1) run.stop();
            } catch (const weir::pipeline_failure&) {
            }
            over = true;
            changer.join();
            CHECK(wrong.empty());
        }
        if (book.alive() != 0 || book.died_twice() != 0) FAIL("items are lost in round " << round);
    }
}
